package dev.gateway.config.yaml.schema.filter;

import static java.util.Map.entry;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.filter.UncheckedFilterConfig;
import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.type.ForeignType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Scope;
import dev.gateway.config.yaml.type.Type;
import dev.gateway.config.yaml.type.Types;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What a filter is: one of {@link FilterTypes}. */
public final class FilterSchema {
    /** What others call types, or do by other means: the type, or a hint of its own. */
    private static final Map<String, String> FOREIGN = Map.ofEntries(
            entry("addprefix", "URLRewrite"), // Traefik
            entry("allow", "IPAccess"), // nginx
            entry("authbasic", "BasicAuth"), // nginx
            entry("authrequest", "ExternalAuth"), // nginx
            entry("brotli", "Compression"), // nginx
            entry("bodysize", "BodyLimit"),
            entry("buffering", "BodyLimit"), // Traefik
            entry("circuitbreaker", "write circuitBreaker into the upstream"), // Traefik
            entry("clientmaxbodysize", "BodyLimit"), // nginx
            entry("compress", "Compression"), // Traefik
            entry("compressor", "Compression"), // Envoy
            entry("decompressor", "Decompression"), // Envoy
            entry("digestauth", "BasicAuth"), // Traefik
            entry("errors", "ErrorPages"), // Traefik
            entry("extauth", "ExternalAuth"),
            entry("extauthz", "ExternalAuth"), // Envoy
            entry("forwardauth", "ExternalAuth"), // Traefik
            entry("grpcweb", "the gateway does not translate gRPC-Web"), // Traefik, Envoy
            entry("gunzip", "Decompression"), // nginx
            entry("gzip", "Compression"), // nginx
            entry("headermodifier", "write RequestHeaderModifier or ResponseHeaderModifier"),
            entry("headers", "write RequestHeaderModifier or ResponseHeaderModifier"), // Traefik
            entry("inflightreq", "RateLimit"), // Traefik
            entry("ipallowlist", "IPAccess"), // Traefik
            entry("ipfilter", "IPAccess"),
            entry("iprestriction", "IPAccess"), // Kong
            entry("ipwhitelist", "IPAccess"), // Traefik
            entry("jwtauthn", "JWT"), // Envoy
            entry("keyauth", "APIKey"), // Kong
            entry("limitconn", "RateLimit"), // nginx
            entry("limitreq", "RateLimit"), // nginx
            entry("localratelimit", "RateLimit"), // Envoy
            entry("mirror", "RequestMirror"), // nginx
            entry("mirroring", "RequestMirror"), // Traefik
            entry("oauth2", "write ExternalAuth, with a server such as oauth2-proxy"), // Envoy
            entry("oidc", "write ExternalAuth, with a server such as oauth2-proxy"),
            entry("passtlsclientcert", "ClientCertificate"), // Traefik
            entry("ratelimiting", "RateLimit"), // Kong
            entry("rbac", "write IPAccess, or requiredClaims in a JWT filter"), // Envoy
            entry("redirectregex", "RequestRedirect"), // Traefik
            entry("redirectscheme", "RequestRedirect"), // Traefik
            entry("replacepath", "URLRewrite"), // Traefik
            entry("requestmirrorpolicies", "RequestMirror"), // Envoy
            entry("requestsize", "BodyLimit"),
            entry("retry", "write retry into the rule"), // Traefik
            entry("return", "write DirectResponse or RequestRedirect"), // nginx
            entry("rewrite", "URLRewrite"), // nginx
            entry("stripprefix", "URLRewrite")); // Traefik

    private FilterSchema() {}

    /** A filter without settings that could be read, which was reported. */
    private record Unread(Position position) implements FilterConfig {}

    /** Returns what a filter is that may have one of these types. */
    public static Type<FilterConfig> filter(FilterTypes types) {
        ObjectType<FilterConfig> known = known(types);
        return types.others() == FilterTypes.Others.WRONG ? known : new ForeignType<>(known, new Unchecked(types));
    }

    /** Filters of plugins that are not loaded. */
    private record Unchecked(FilterTypes types) implements ForeignType.Foreign<FilterConfig> {
        @Override
        public boolean has(String type) {
            return types.isOther(type);
        }

        @Override
        public FilterConfig read(Position position, String type, Object written, Scope scope) {
            if (types.others() == FilterTypes.Others.WARNED_OF) {
                scope.problems.warning(
                        position,
                        "type: the gateway has no filter '" + type
                                + "'; if a plugin has it, --plugins DIR loads and runs that plugin to check the filter"
                                + Types.hint(type, words(types).keySet(), FOREIGN));
            }
            return new UncheckedFilterConfig(position, type, written);
        }

        @Override
        public @Nullable Object written(FilterConfig value) {
            return value instanceof UncheckedFilterConfig unchecked ? unchecked.written() : null;
        }
    }

    private static ObjectType<FilterConfig> known(FilterTypes types) {
        ScalarType<String> type = Types.words(words(types), Map.of(), FOREIGN, text -> otherwise(text, types));
        return ObjectType.of(
                "filter",
                "A step that a request or its response passes. Each type has its settings in the key "
                        + "of the same name.",
                o -> {
                    o.required("type", type, FilterConfig::type, "What the filter does.");
                    List<FilterType.Reader> readers =
                            types.all().stream().map(each -> each.declare(o)).toList();
                    Map<String, String> keys = new LinkedHashMap<>();
                    types.all().forEach(each -> keys.put(each.name(), each.key()));
                    TypeKeys.choice(o, keys);
                    FOREIGN.forEach((word, meant) -> o.foreign(word, keys.getOrDefault(meant, meant)));
                    return v -> readers.stream()
                            .map(reader -> reader.read(v))
                            .filter(Objects::nonNull)
                            .findFirst()
                            .orElseGet(() -> new Unread(v.position()));
                });
    }

    /** Returns the end of the message about an unknown type. A list of our own types does not help who wants a plugin. */
    private static String otherwise(String text, FilterTypes types) {
        String absent = types.isOther(text) ? types.absent() : "";
        return !absent.isEmpty()
                ? "the gateway has no such filter, and " + absent
                : "expected one of " + String.join(", ", types.names());
    }

    private static Map<String, String> words(FilterTypes types) {
        Map<String, String> words = new LinkedHashMap<>();
        types.names().forEach(name -> words.put(name, name));
        return words;
    }
}
