package dev.gateway.config.yaml.schema.listener;

import static java.util.Map.entry;

import dev.gateway.config.listener.ListenerConfig.RequestId;
import dev.gateway.config.listener.ListenerConfig.RequestId.Format;
import dev.gateway.config.value.FramingFields;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** How requests are told apart, key by key. */
final class RequestIdSchema {
    private static final ScalarType<Format> FORMAT = Types.words(
            Types.ordered(entry("hex", Format.HEX), entry("uuid", Format.UUID)),
            Map.of(),
            Map.of("uuid4", "uuid", "uuidv4", "uuid", "guid", "uuid"));

    /** What has a meaning of its own, which an ID in its place would change. */
    private static final Set<String> TAKEN = Set.of(
            "accept",
            "authorization",
            "b3",
            "cache-control",
            "client-cert",
            "client-cert-chain",
            "cookie",
            "date",
            "expect",
            "forwarded",
            "from",
            "http2-settings",
            "max-forwards",
            "origin",
            "pragma",
            "range",
            "referer",
            "server",
            "set-cookie",
            "traceparent",
            "tracestate",
            "user-agent",
            "via",
            "x-real-ip");

    /** How names begin that have such a meaning. */
    private static final List<String> TAKEN_PREFIXES = List.of(
            "accept-", "access-control-", "content-", "grpc-", "if-", "proxy-", "sec-", "x-b3-", "x-forwarded-");

    static final ObjectType<RequestId> REQUEST_ID =
            ObjectType.of("requestId section", "The ID that tells requests apart.", o -> {
                var header = o.defaulted(
                        "header",
                        Types.HEADER_NAME,
                        "X-Request-Id",
                        RequestId::header,
                        "Header field in which upstreams get the ID. The gateway keeps the one that a trusted proxy"
                                + " has sent there, and replaces all others.");
                var format = o.defaulted(
                        "format",
                        FORMAT,
                        Format.HEX,
                        RequestId::format,
                        "What new IDs look like: hex is 32 hexadecimal digits, uuid a random UUID (RFC 9562).");
                o.foreign("name headerName", "header");
                o.foreign("type generator", "format");
                o.single(text -> text.equals("hex") || text.equals("uuid")
                        ? "{format: " + text + "}"
                        : text.matches("[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)+") ? "{header: " + text + "}" : null);
                return v -> {
                    String lower = v.get(header).toLowerCase(Locale.ROOT);
                    if (isTaken(lower)) {
                        v.error(
                                v.at("header"),
                                "header: '" + v.get(header)
                                        + "' has another meaning: write a name of its own such as X-Correlation-Id");
                    }
                    return new RequestId(v.position(), v.get(header), v.get(format));
                };
            });

    private RequestIdSchema() {}

    private static boolean isTaken(String lower) {
        return TAKEN.contains(lower)
                || FramingFields.NAMES.contains(lower)
                || TAKEN_PREFIXES.stream().anyMatch(lower::startsWith);
    }
}
