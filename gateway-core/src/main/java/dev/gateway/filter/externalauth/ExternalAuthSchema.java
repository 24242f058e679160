package dev.gateway.filter.externalauth;

import static java.util.Map.entry;

import dev.gateway.config.listener.ListenerConfig.RequestId;
import dev.gateway.config.yaml.schema.filter.RuleSite;
import dev.gateway.config.yaml.schema.filter.UpstreamRefSchema;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import dev.gateway.filter.externalauth.ExternalAuthConfig.Answers;
import dev.gateway.filter.externalauth.ExternalAuthConfig.Extension;
import dev.gateway.filter.externalauth.ExternalAuthConfig.GrpcQuestion;
import dev.gateway.filter.externalauth.ExternalAuthConfig.HttpQuestion;
import dev.gateway.filter.externalauth.ExternalAuthConfig.OnError;
import dev.gateway.filter.externalauth.ExternalAuthConfig.Question;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Filter that asks a server about each request, key by key. */
final class ExternalAuthSchema {
    private static final long MOST_BYTES = 1 << 20;
    private static final List<String> SENT =
            List.of("Accept", "Authorization", "Cookie", "User-Agent", "X-Requested-With");

    private static final ScalarType<String> PATH =
            Types.word("/[!-\"$-~]*", "a path that begins with '/', such as /oauth2/auth");

    private static final ScalarType<String> PATH_PREFIX =
            Types.word("/[!-\"$->@-~]*", "a path that begins with '/' and has no query, such as /check");

    private enum Protocol {
        HTTP,
        GRPC
    }

    private static final List<String> OF_HTTP =
            List.of("path", "pathPrefix", "method", "allowedHeaders", "clientHeaders");

    private static final GrpcQuestion NOTHING_MORE = new GrpcQuestion(List.of(), List.of());

    private static final ObjectType<Extension> EXTENSION =
            ObjectType.of("context extension", "A name and a value that each question has.", o -> {
                var name = o.required(
                        "name",
                        Types.text("[!-~]{1,255}", "a name without spaces or non-ASCII characters"),
                        Extension::name,
                        "Name, which the server knows.");
                var value = o.required("value", Types.TEXT, Extension::value, "Value.");
                return v -> new Extension(v.get(name), v.get(value));
            });

    private static final ObjectType<GrpcQuestion> GRPC =
            ObjectType.of("grpc section", "What a question by gRPC has.", o -> {
                var sent = o.defaulted(
                        "allowedHeaders",
                        new ListType<>(Types.HEADER_NAME, 0),
                        List.of(),
                        GrpcQuestion::allowedHeaders,
                        "Header fields of the request that the question has. An empty list means all of them. It also "
                                + "has those that the gateway writes into questions by HTTP.");
                var extensions = o.defaulted(
                        "contextExtensions",
                        new ListType<>(EXTENSION, 0),
                        List.of(),
                        GrpcQuestion::contextExtensions,
                        "Names and values that each question has in context_extensions, such as the name of a policy.");
                return v -> {
                    check(v, "allowedHeaders", v.get(sent), ExternalAuthConfig.OF_QUESTIONS);
                    Set<String> names = new HashSet<>();
                    for (Extension each : v.get(extensions)) {
                        if (!names.add(each.name())) {
                            v.error(
                                    v.at("contextExtensions"),
                                    "contextExtensions: '" + each.name() + "' has two values");
                        }
                    }
                    return new GrpcQuestion(v.get(sent), v.get(extensions));
                };
            });

    /** Settings. */
    static final ObjectType<ExternalAuthConfig> SETTINGS = ObjectType.of(
            "externalAuth section",
            "Asks a server about each request, by HTTP or gRPC. By HTTP, the request continues after a 2xx answer. The "
                    + "client gets a 3xx or 4xx answer. A 5xx answer decides nothing, see onError.",
            o -> {
                var server = o.required(
                        "backendRef",
                        UpstreamRefSchema.UPSTREAM_REF,
                        ExternalAuthConfig::backendRef,
                        "The upstream of the server. Its limits and health checks hold for questions, too.");
                var protocol = o.defaulted(
                        "protocol",
                        Types.words(entry("HTTP", Protocol.HTTP), entry("GRPC", Protocol.GRPC)),
                        Protocol.HTTP,
                        auth -> auth.isGrpc() ? Protocol.GRPC : Protocol.HTTP,
                        "HTTP sends a request of its own. GRPC calls Envoy's "
                                + "envoy.service.auth.v3.Authorization/Check over HTTP/2.");
                var grpc = o.optional(
                        "grpc",
                        GRPC,
                        auth -> auth.question() instanceof GrpcQuestion asked && !asked.equals(NOTHING_MORE)
                                ? asked
                                : null,
                        "What a question by gRPC has. Only for protocol GRPC.");
                var path = o.optional(
                        "path",
                        PATH,
                        auth -> http(auth, asked -> asked.isPrefix() ? null : asked.path()),
                        "Path of all questions, maybe with a query. The question names the endpoint as its host.");
                var prefix = o.optional(
                        "pathPrefix",
                        PATH_PREFIX,
                        auth -> http(auth, asked -> asked.isPrefix() ? asked.path() : null),
                        "What precedes the path of the request in the path of the question. The question has the host "
                                + "of the request.");
                var method = o.optional(
                        "method",
                        Types.METHOD,
                        auth -> http(auth, HttpQuestion::method),
                        "Method of the question. The default is GET, or with pathPrefix the method of the request.");
                var sent = o.defaulted(
                        "allowedHeaders",
                        new ListType<>(Types.HEADER_NAME, 0),
                        SENT,
                        auth -> http(auth, HttpQuestion::allowedHeaders),
                        "Header fields of the request that the question has. It also has X-Forwarded-Method, "
                                + "X-Forwarded-Proto, X-Forwarded-Host, X-Forwarded-Uri and X-Forwarded-For, which the "
                                + "gateway writes, and Via, X-Request-Id and the trace context.");
                var copied = o.defaulted(
                        "allowedResponseHeaders",
                        new ListType<>(Types.HEADER_NAME, 0),
                        List.of(),
                        auth -> auth.answers().allowedResponseHeaders(),
                        "Header fields of a consent that the upstream of the rule gets. The gateway always removes "
                                + "fields of these names from the client's request. With protocol GRPC, an empty list "
                                + "means all fields that the answer names.");
                var client = o.defaulted(
                        "clientHeaders",
                        new ListType<>(Types.HEADER_NAME, 0),
                        List.of("Set-Cookie"),
                        auth -> auth.isGrpc() ? null : auth.answers().clientHeaders(),
                        "Header fields of a 2xx answer that the client gets. They replace those of the upstream, but "
                                + "cookies are added.");
                var identity = o.optional(
                        "identityHeader",
                        Types.HEADER_NAME,
                        auth -> auth.answers().identityHeader(),
                        "Header field of a consent that says who the client is, for logs and limits. The gateway "
                                + "always removes it from the client's request.");
                var timeout = o.defaulted(
                        "timeout",
                        Types.DURATION,
                        Duration.ofSeconds(5),
                        ExternalAuthConfig::timeout,
                        "How long the whole answer may take.");
                var bytes = o.defaulted(
                        "maxResponseBytes",
                        Types.SIZE,
                        64L << 10,
                        auth -> auth.answers().maxResponseBytes(),
                        "Size that the body of a refusal may have, or an answer by gRPC, up to 1MiB. The gateway holds "
                                + "it until it is complete.");
                var onError = o.defaulted(
                        "onError",
                        Types.words(onErrors(), Map.of()),
                        OnError.DENY,
                        ExternalAuthConfig::onError,
                        "What happens if the server does not decide: deny answers 503 with the cause authz_error, "
                                + "allow lets the request continue. A refusal that does not arrive whole gets "
                                + "503 in both cases.");
                o.constraint(ExternalAuthSchema::misplaced, misplacedSchema());
                o.reserve("forwardBody", "questions with the body of the request");
                o.foreign("url uri address authUrl", "write backendRef: {name: …} and path: …"); // Traefik
                return v -> {
                    check(v, "allowedHeaders", v.get(sent), ExternalAuthConfig.OF_QUESTIONS);
                    check(v, "allowedResponseHeaders", v.get(copied), ExternalAuthConfig.OF_REQUESTS);
                    check(v, "clientHeaders", v.get(client), ExternalAuthConfig.FRAMING);
                    String who = v.find(identity);
                    if (who != null) {
                        check(v, "identityHeader", List.of(who), ExternalAuthConfig.OF_REQUESTS);
                    }
                    if (v.get(timeout).isZero()) {
                        v.error(v.at("timeout"), "timeout: expected a time longer than 0s");
                    }
                    if (v.get(bytes) > MOST_BYTES) {
                        v.error(v.at("maxResponseBytes"), "maxResponseBytes: expected at most 1MiB");
                    }
                    String asked = v.find(method);
                    if ("CONNECT".equals(asked) || "TRACE".equals(asked)) {
                        v.error(v.at("method"), "method: " + asked + " asks no server about a request");
                    }
                    String fixed = v.find(path);
                    String before = v.find(prefix);
                    GrpcQuestion call = v.find(grpc);
                    Question question = v.get(protocol) == Protocol.GRPC
                            ? call == null ? NOTHING_MORE : call
                            : new HttpQuestion(
                                    before != null ? before : fixed != null ? fixed : "/",
                                    before != null,
                                    asked,
                                    v.get(sent));
                    return new ExternalAuthConfig(
                            v.position(),
                            v.get(server),
                            question,
                            new Answers(v.get(copied), v.get(client), who, v.get(bytes)),
                            v.get(timeout),
                            v.get(onError));
                };
            });

    private ExternalAuthSchema() {}

    /** Returns a part of a question by HTTP, null for one by gRPC. */
    private static <V> @Nullable V http(ExternalAuthConfig auth, Function<HttpQuestion, @Nullable V> part) {
        return auth.question() instanceof HttpQuestion http ? part.apply(http) : null;
    }

    /** A question by HTTP has a path; keys of one protocol are refused with the other. */
    private static ObjectType.@Nullable Finding misplaced(Values values) {
        String protocol = values.has("protocol") ? values.resolved("protocol") : "HTTP";
        if (protocol.equals("HTTP")) {
            if (values.has("grpc")) {
                return new ObjectType.Finding("grpc", "'grpc' does not belong to protocol HTTP: write protocol: GRPC");
            }
            return values.has("path") == values.has("pathPrefix")
                    ? new ObjectType.Finding(
                            "pathPrefix", "an externalAuth section needs exactly one of 'path' and 'pathPrefix'")
                    : null;
        }
        for (String key : OF_HTTP) {
            if (protocol.equals("GRPC") && values.has(key)) {
                return new ObjectType.Finding(
                        key,
                        "'" + key + "' does not belong to protocol GRPC: "
                                + (key.equals("allowedHeaders") ? "write it into 'grpc'" : "remove it"));
            }
        }
        return null;
    }

    private static Map<String, Object> misplacedSchema() {
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put(
                "if",
                Map.of("properties", Map.of("protocol", Map.of("const", "GRPC")), "required", List.of("protocol")));
        schema.put(
                "then",
                Map.of(
                        "not",
                        Map.of(
                                "anyOf",
                                OF_HTTP.stream().map(ObjectType::requires).toList())));
        schema.put(
                "else",
                Map.of(
                        "not",
                        ObjectType.requires("grpc"),
                        "oneOf",
                        List.of(ObjectType.requires("path"), ObjectType.requires("pathPrefix"))));
        return schema;
    }

    private static Map<String, OnError> onErrors() {
        Map<String, OnError> words = new LinkedHashMap<>();
        words.put("deny", OnError.DENY);
        words.put("allow", OnError.ALLOW);
        return words;
    }

    /** Refuses answers with the field in which a listener tells upstreams the request ID. */
    private static void keepId(ExternalAuthConfig filter, RequestId id, RuleSite site) {
        String header = lower(id.header());
        ExternalAuthConfig.Answers answers = filter.answers();
        if (answers.allowedResponseHeaders().stream()
                .anyMatch(name -> lower(name).equals(header))) {
            refuse(filter, "allowedResponseHeaders", id, site);
        }
        if (answers.identityHeader() != null && lower(answers.identityHeader()).equals(header)) {
            refuse(filter, "identityHeader", id, site);
        }
    }

    private static void refuse(ExternalAuthConfig filter, String key, RequestId id, RuleSite site) {
        site.error(
                site.scope().at(filter, "externalAuth", key),
                key + ": the gateway itself writes " + id.header() + ", as requestId in "
                        + id.position().seenFrom(filter.position()) + " says: remove it");
    }

    private static String lower(String name) {
        return name.toLowerCase(Locale.ROOT);
    }

    private static void check(Values v, String key, List<String> names, Set<String> own) {
        for (String name : names) {
            if (own.contains(lower(name))) {
                v.error(v.at(key), key + ": the gateway itself writes " + name + ": remove it");
            }
        }
    }

    /** Calls of gRPC need HTTP/2, a time limit must be within that of the request, and nobody else makes its ID. */
    static void check(ExternalAuthConfig filter, RuleSite site) {
        site.listeners().stream()
                .map(listener -> listener.http().requestId())
                .filter(id -> !ExternalAuthConfig.OF_REQUESTS.contains(lower(id.header()))) // or it was reported before
                .forEach(id -> keepId(filter, id, site));
        String name = filter.backendRef().name();
        if (filter.isGrpc()) {
            site.config().upstreams().stream()
                    .filter(upstream -> upstream.name().equals(name)
                            && !upstream.protocols().mayBeHttp2())
                    .reduce((first, last) -> last)
                    .ifPresent(upstream -> site.error(
                            site.scope().at(filter.backendRef(), "name"),
                            "protocol: GRPC needs HTTP/2, and the upstream '" + name + "' in "
                                    + upstream.position().seenFrom(filter.position())
                                    + " speaks HTTP/1.1: write protocol: h2c (cleartext) or protocol: h2 (with"
                                    + " tls) there"));
        }
        if (site.scope().wrote(filter, "externalAuth", "timeout")) {
            site.includedInRequest(site.scope().at(filter, "externalAuth", "timeout"), "timeout", filter.timeout());
        }
    }
}
