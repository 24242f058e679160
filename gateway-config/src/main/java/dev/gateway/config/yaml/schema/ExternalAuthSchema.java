package dev.gateway.config.yaml.schema;

import dev.gateway.config.ExternalAuthConfig;
import dev.gateway.config.ExternalAuthConfig.Answers;
import dev.gateway.config.ExternalAuthConfig.OnError;
import dev.gateway.config.ExternalAuthConfig.Question;
import dev.gateway.config.FilterConfig.UpstreamRef;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Filter that asks a server about each request, key by key. */
final class ExternalAuthSchema {
    private static final String BY_GRPC = "authorization by gRPC";
    private static final long MOST_BYTES = 1 << 20;
    private static final List<String> SENT =
            List.of("Accept", "Authorization", "Cookie", "User-Agent", "X-Requested-With");

    /** They frame a message, or are about one connection. */
    private static final Set<String> FRAMING = with(HeaderEditsSchema.FRAMING, "expect", "http2-settings");

    /** The gateway writes them into the question. */
    private static final Set<String> WRITTEN = with(
            FRAMING,
            "x-forwarded-for",
            "x-forwarded-host",
            "x-forwarded-method",
            "x-forwarded-proto",
            "x-forwarded-uri");

    /** The gateway writes them into requests. */
    private static final Set<String> OF_REQUESTS = with(
            FRAMING,
            "forwarded",
            "via",
            "x-forwarded-for",
            "x-forwarded-host",
            "x-forwarded-port",
            "x-forwarded-proto",
            "x-request-id");

    private static final ScalarType<String> PATH =
            Types.word("/[!-\"$-~]*", "a path that begins with '/', such as /oauth2/auth");

    private static final ScalarType<String> PATH_PREFIX =
            Types.word("/[!-\"$->@-~]*", "a path that begins with '/' and has no query, such as /check");

    private static final ObjectType<UpstreamRef> UPSTREAM_REF =
            ObjectType.of("upstream reference", "An upstream that a filter calls.", o -> {
                var name = o.required("name", Types.NAME, UpstreamRef::name, "Name of the upstream.");
                return v -> new UpstreamRef(v.position(), v.get(name));
            });

    /** Settings. */
    static final ObjectType<ExternalAuthConfig> EXTERNAL_AUTH = ObjectType.of(
            "externalAuth section",
            "Asks a server about each request, by HTTP. After a 2xx answer the request continues. The client gets a 3xx "
                    + "or 4xx answer. A 5xx answer decides nothing, see onError.",
            o -> {
                var server = o.required(
                        "backendRef",
                        UPSTREAM_REF,
                        ExternalAuthConfig::backendRef,
                        "The upstream of the server. Its limits and health checks hold for questions, too.");
                var path = o.optional(
                        "path",
                        PATH,
                        auth -> auth.question().isPrefix()
                                ? null
                                : auth.question().path(),
                        "Path of all questions, maybe with a query. The question names the endpoint as its host.");
                var prefix = o.optional(
                        "pathPrefix",
                        PATH_PREFIX,
                        auth -> auth.question().isPrefix() ? auth.question().path() : null,
                        "What precedes the path of the request in the path of the question. The question has the host "
                                + "of the request.");
                var method = o.optional(
                        "method",
                        Types.METHOD,
                        auth -> auth.question().method(),
                        "Method of the question. The default is GET, or with pathPrefix the method of the request.");
                var sent = o.defaulted(
                        "allowedHeaders",
                        new ListType<>(Types.HEADER_NAME, 0),
                        SENT,
                        auth -> auth.question().allowedHeaders(),
                        "Header fields of the request that the question has. It also has X-Forwarded-Method, "
                                + "X-Forwarded-Proto, X-Forwarded-Host, X-Forwarded-Uri and X-Forwarded-For, which the "
                                + "gateway writes, and Via, X-Request-Id and the trace context.");
                var copied = o.defaulted(
                        "allowedResponseHeaders",
                        new ListType<>(Types.HEADER_NAME, 0),
                        List.of(),
                        auth -> auth.answers().allowedResponseHeaders(),
                        "Header fields of a 2xx answer that the upstream of the rule gets. The gateway always removes "
                                + "fields of these names from the client's request.");
                var client = o.defaulted(
                        "clientHeaders",
                        new ListType<>(Types.HEADER_NAME, 0),
                        List.of("Set-Cookie"),
                        auth -> auth.answers().clientHeaders(),
                        "Header fields of a 2xx answer that the client gets. They replace those of the upstream, but "
                                + "cookies are added.");
                var identity = o.optional(
                        "identityHeader",
                        Types.HEADER_NAME,
                        auth -> auth.answers().identityHeader(),
                        "Header field of a 2xx answer that says who the client is, for logs and limits. The gateway "
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
                        "Size that the body of a refusal may have, up to 1MiB. The gateway holds it until it is "
                                + "complete.");
                var onError = o.defaulted(
                        "onError",
                        Types.words(onErrors(), Map.of()),
                        OnError.DENY,
                        ExternalAuthConfig::onError,
                        "What happens if the server does not decide: deny answers 503 with the cause authz_error, "
                                + "allow lets the request continue. A 3xx or 4xx answer that does not arrive whole "
                                + "gets 503 in both cases.");
                o.exactlyOneOf("path", "pathPrefix");
                o.reserve("protocol", BY_GRPC);
                o.reserve("grpc", BY_GRPC);
                o.reserve("forwardBody", "questions with the body of the request");
                return v -> {
                    check(v, "allowedHeaders", v.get(sent), WRITTEN);
                    check(v, "allowedResponseHeaders", v.get(copied), OF_REQUESTS);
                    check(v, "clientHeaders", v.get(client), FRAMING);
                    String who = v.find(identity);
                    if (who != null) {
                        check(v, "identityHeader", List.of(who), OF_REQUESTS);
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
                    return new ExternalAuthConfig(
                            v.position(),
                            v.get(server),
                            new Question(
                                    before != null ? before : fixed != null ? fixed : "/",
                                    before != null,
                                    asked,
                                    v.get(sent)),
                            new Answers(v.get(copied), v.get(client), who, v.get(bytes)),
                            v.get(timeout),
                            v.get(onError));
                };
            });

    private ExternalAuthSchema() {}

    private static Set<String> with(Set<String> some, String... more) {
        return Stream.concat(some.stream(), Stream.of(more)).collect(Collectors.toUnmodifiableSet());
    }

    private static Map<String, OnError> onErrors() {
        Map<String, OnError> words = new LinkedHashMap<>();
        words.put("deny", OnError.DENY);
        words.put("allow", OnError.ALLOW);
        return words;
    }

    private static void check(Values v, String key, List<String> names, Set<String> own) {
        for (String name : names) {
            if (own.contains(name.toLowerCase(Locale.ROOT))) {
                v.error(v.at(key), key + ": the gateway itself writes " + name + ": remove it");
            }
        }
    }
}
