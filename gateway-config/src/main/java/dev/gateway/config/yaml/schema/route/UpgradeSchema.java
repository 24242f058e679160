package dev.gateway.config.yaml.schema.route;

import dev.gateway.config.route.RuleConfig.WebSocket;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.MessageText;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/** What requests may upgrade to, and what WebSockets may do. */
final class UpgradeSchema {
    static final String WEBSOCKET = "websocket";

    private static final String TOKEN_PATTERN = "[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)?";
    private static final Pattern HTTP2 = Pattern.compile("h2|http/.*");

    /** A token of the Upgrade header. */
    static final ScalarType<String> TOKEN = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    Map.of("type", "string", "pattern", "^(" + TOKEN_PATTERN + ")$"),
                    WEBSOCKET,
                    (text, site) -> {
                        String lower = text.toLowerCase(Locale.ROOT);
                        if (HTTP2.matcher(lower).matches()) {
                            throw new InvalidException(
                                    MessageText.quote(text)
                                            + " is no upgrade: each side has its own HTTP version, and h2c is the token for HTTP/2");
                        }
                        if (!text.matches(TOKEN_PATTERN)) {
                            throw new InvalidException("expected a token of the Upgrade header such as websocket, not "
                                    + MessageText.quote(text)
                                    + (text.contains("*") ? ": there is no wildcard, write each" : ""));
                        }
                        return lower;
                    },
                    value -> value)
            .named(
                    "upgrade token",
                    "A token of the Upgrade header, such as websocket, tcp or SPDY/3.1. No HTTP version except h2c.");

    /** What a browser writes in the Origin header. */
    private static final ScalarType<String> ORIGIN = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    Map.of("type", "string", "pattern", "^(" + Origins.PATTERN + "|null)$"),
                    "null",
                    (text, site) -> {
                        if (text.equals("null")) {
                            return text;
                        }
                        String origin = Origins.written(text);
                        if (origin.isEmpty()) {
                            throw new InvalidException("expected an origin such as https://example.com or"
                                    + " https://example.com:8443, not " + MessageText.quote(text) + originHint(text));
                        }
                        return origin;
                    },
                    value -> value)
            .named(
                    "origin",
                    "An origin as a browser sends it, such as https://example.com or https://example.com:8443, or null.");

    /** What WebSockets may do. */
    static final ObjectType<WebSocket> WEB_SOCKET = ObjectType.of(
            "webSocket section", "Limits of WebSockets. Other upgrades have the same limits, except halfClosed.", o -> {
                var timeouts = TunnelTimeoutKeys.declare(o, TunnelTimeoutKeys.RELAY, WebSocket::timeouts, "");
                var origins = o.optional(
                        "allowedOrigins",
                        new ListType<>(ORIGIN, 1),
                        webSocket -> webSocket.allowedOrigins().isEmpty() ? null : webSocket.allowedOrigins(),
                        "Origins of pages that may open a WebSocket. The gateway answers others with 403. "
                                + "Without this key all may.");
                o.foreign("timeout", "idle");
                return v -> {
                    List<String> allowed = v.find(origins);
                    return new WebSocket(v.position(), timeouts.of(v), allowed == null ? List.of() : allowed);
                };
            });

    private UpgradeSchema() {}

    private static String originHint(String text) {
        if (text.equals("*")) {
            return ": remove allowedOrigins for all";
        } else if (text.contains("*")) {
            return ": there is no wildcard, write each";
        }
        return Origins.hint(text);
    }
}
