package dev.gateway.observe.accesslog;

import dev.gateway.format.JsonText;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.Tried;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Failed exchange. What is kept of an exchange that has failed: a copy, as records are views of buffers. Texts are cut, so
 * that it takes at most some 2 KB.
 *
 * @param tried the attempts but the last one
 */
public record FailedExchange(
        long endMillis,
        Request request,
        Outcome outcome,
        String upstream,
        String endpoint,
        int attempts,
        List<Tried> tried) {
    private static final int LONGEST = 256;

    /** Causes that clients bring about, or that are refusals by policy; the dashboard has the same list. */
    private static final Pattern OF_CLIENTS =
            Pattern.compile("client|policy|proxy_auth|authz|rate|no_route|body_too|max_duration|idle_timeout|admin");

    /**
     * What was asked for.
     *
     * @param path with what the access log hides hidden
     */
    public record Request(String id, String client, String listener, String route, String method, String path) {}

    /**
     * How it failed.
     *
     * @param cause empty if the upstream answered 5xx
     */
    public record Outcome(int status, String cause, String detail) {}

    static FailedExchange of(ExchangeRecord exchange, Redaction redaction) {
        long nanos = exchange.endNanos - exchange.startNanos;
        return new FailedExchange(
                exchange.startMillis + nanos / 1_000_000,
                new Request(
                        text(exchange.requestId),
                        text(exchange.client.text()),
                        exchange.connection.listenerName(),
                        exchange.route,
                        exchange.method == null ? "" : text(exchange.method.name()),
                        text(exchange.path.isEmpty() ? exchange.authority : redaction.url(exchange.path))),
                new Outcome(
                        exchange.status, exchange.cause == null ? "" : exchange.cause.label(), cut(exchange.detail)),
                exchange.upstream,
                exchange.endpoint == null ? "" : exchange.endpoint.toString(),
                exchange.attempts,
                exchange.tried == null ? List.of() : List.copyOf(exchange.tried));
    }

    private static String text(@Nullable AsciiString text) {
        return text == null ? "" : text.length() <= LONGEST ? text.toString() : text.toString(0, LONGEST) + "\u2026";
    }

    private static String cut(String text) {
        return text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "\u2026";
    }

    /** Whether the client caused it, not the gateway or an upstream. */
    boolean isOfClient() {
        return OF_CLIENTS.matcher(outcome.cause).lookingAt();
    }

    /** Writes it as an object of the document. */
    public void write(JsonText json) {
        json.object().put("time", endMillis);
        put(json, "requestId", request.id);
        json.put("client", request.client).put("listener", request.listener);
        put(json, "route", request.route);
        put(json, "method", request.method);
        json.put("path", request.path).put("status", outcome.status);
        put(json, "cause", outcome.cause);
        put(json, "detail", outcome.detail);
        put(json, "upstream", upstream);
        put(json, "endpoint", endpoint);
        json.put("attempts", attempts);
        if (!tried.isEmpty()) {
            json.array("tried");
            tried.forEach(each -> {
                json.object().put("endpoint", each.endpoint().toString());
                if (each.cause() != null) {
                    json.put("cause", each.cause().label());
                } else if (each.status() != 0) {
                    json.put("status", each.status());
                }
                json.endObject();
            });
            json.endArray();
        }
        json.endObject();
    }

    private static void put(JsonText json, String name, String value) {
        if (!value.isEmpty()) {
            json.put(name, value);
        }
    }
}
