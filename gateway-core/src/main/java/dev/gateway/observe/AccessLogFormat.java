package dev.gateway.observe;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.observe.ExchangeRecord.Side;
import dev.gateway.stream.ConnectionInfo.TlsInfo;
import dev.gateway.stream.Hop;
import io.netty.util.AsciiString;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** How an exchange is written as a line. One per event loop, for it keeps the text of the current second. */
abstract sealed class AccessLogFormat {
    private long second = -1;
    private String time = "";

    /** When a line is written. */
    enum Moment {
        /** A tunnel was opened. */
        OPEN,
        /** A tunnel goes on. */
        INTERIM,
        /** The exchange is over. */
        CLOSE
    }

    /** Whether there are lines of that moment. */
    abstract boolean has(Moment moment);

    /** Adds one line with its end. */
    abstract void write(ExchangeRecord exchange, Moment moment, LineBuffer line);

    abstract DateTimeFormatter timeFormat();

    /** Returns the time of the request, to the second, in the format's own way. */
    final String time(long millis) {
        long now = Math.floorDiv(millis, 1000L);
        if (now != second) {
            second = now;
            time = timeFormat().format(LocalDateTime.ofInstant(Instant.ofEpochSecond(now), ZoneOffset.UTC));
        }
        return time;
    }

    static @Nullable AsciiString field(ExchangeRecord exchange, FieldName name) {
        Fields fields = exchange.fields;
        return fields == null ? null : fields.first(name);
    }

    /** A JSON object per line, with the words of the metrics. */
    static final class Json extends AccessLogFormat {
        private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss", Locale.ROOT);

        @Override
        DateTimeFormatter timeFormat() {
            return TIME;
        }

        @Override
        boolean has(Moment moment) {
            return true;
        }

        @Override
        void write(ExchangeRecord exchange, Moment moment, LineBuffer line) {
            line.put("{\"time\":\"").put(time(exchange.startMillis)).put('.');
            line.putPadded((int) Math.floorMod(exchange.startMillis, 1000L), 3).put("Z\"");
            if (exchange.kind != Kind.HTTP) {
                line.put(",\"kind\":\"").put(word(exchange.kind)).put("\",\"record\":\"");
                line.put(word(moment)).put('"');
            }
            text(line, "listener", exchange.connection.listenerName());
            text(line, "peer", exchange.connection.peerIp());
            TlsInfo tls = exchange.connection.tls();
            if (tls != null && tls.clientSubject() != null) {
                text(line, "clientSubject", tls.clientSubject());
            }
            text(line, "identity", exchange.identity);
            text(line, "requestId", exchange.requestId);
            text(line, "method", exchange.method == null ? null : exchange.method.name());
            text(line, "scheme", exchange.scheme);
            text(line, "authority", exchange.authority);
            text(line, "path", exchange.path);
            text(line, "protocol", exchange.connection.version().text());
            number(line, "status", exchange.status);
            if (exchange.cause != null) {
                text(line, "cause", exchange.cause.label());
                text(line, "detail", exchange.detail);
            }
            text(line, "route", exchange.route);
            text(line, "upstream", exchange.upstream);
            if (exchange.endpoint != null) {
                String endpoint = exchange.endpoint.toString();
                text(line, "endpoint", endpoint);
                hop(line, exchange.hop, endpoint);
            }
            number(line, "attempts", exchange.attempts);
            number(line, "receivedBytes", exchange.receivedBytes);
            number(line, "sentBytes", exchange.sentBytes);
            if (exchange.endedBy != null && exchange.openedNanos != 0) {
                text(line, "endedBy", word(exchange.endedBy));
            }
            long now = moment == Moment.CLOSE ? exchange.endNanos : exchange.reportedNanos;
            micros(line, "durationMicros", exchange.startNanos, now);
            micros(line, "connectMicros", exchange.attemptNanos, exchange.requestedNanos);
            micros(line, "responseMicros", exchange.requestedNanos, exchange.respondedNanos);
            text(line, "userAgent", field(exchange, FieldName.USER_AGENT));
            text(line, "referer", field(exchange, FieldName.REFERER));
            line.put("}\n");
        }

        /** An endpoint that is an address, and was dialled itself, is not said twice. */
        private static void hop(LineBuffer line, @Nullable Hop hop, String endpoint) {
            if (hop != null) {
                text(line, "dialled", hop.dialled().equals(endpoint) ? "" : hop.dialled());
                text(line, "parent", hop.parent());
            }
        }

        private static String word(Kind kind) {
            return switch (kind) {
                case HTTP -> "http";
                case TUNNEL -> "tunnel";
                case WEBSOCKET -> "websocket";
                case UPGRADE -> "upgrade";
            };
        }

        private static String word(Moment moment) {
            return switch (moment) {
                case OPEN -> "open";
                case INTERIM -> "interim";
                case CLOSE -> "close";
            };
        }

        private static String word(Side side) {
            return switch (side) {
                case CLIENT -> "client";
                case UPSTREAM -> "upstream";
                case GATEWAY -> "gateway";
            };
        }

        private static void text(LineBuffer line, String name, @Nullable AsciiString value) {
            if (value != null && !value.isEmpty()) {
                line.put(",\"").put(name).put("\":\"").putJson(value).put('"');
            }
        }

        private static void text(LineBuffer line, String name, String value) {
            if (!value.isEmpty()) {
                line.put(",\"").put(name).put("\":\"").putJson(value).put('"');
            }
        }

        private static void number(LineBuffer line, String name, long value) {
            line.put(",\"").put(name).put("\":").put(value);
        }

        private static void micros(LineBuffer line, String name, long from, long to) {
            if (from != 0 && to != 0 && to - from >= 0) {
                number(line, name, (to - from) / 1000);
            }
        }
    }

    /** The combined format of Apache and nginx. */
    static final class Combined extends AccessLogFormat {
        private static final DateTimeFormatter TIME =
                DateTimeFormatter.ofPattern("dd/MMM/yyyy:HH:mm:ss '+0000'", Locale.US);

        @Override
        DateTimeFormatter timeFormat() {
            return TIME;
        }

        @Override
        boolean has(Moment moment) {
            return moment == Moment.CLOSE;
        }

        @Override
        void write(ExchangeRecord exchange, Moment moment, LineBuffer line) {
            line.putEscaped(exchange.connection.peerIp()).put(" - ");
            if (exchange.identity.isEmpty()) {
                line.put('-');
            } else {
                line.putEscaped(exchange.identity);
            }
            line.put(" [");
            line.put(time(exchange.startMillis)).put("] \"");
            if (exchange.method == null) {
                line.put('-');
            } else {
                line.putEscaped(exchange.method.name())
                        .put(' ')
                        .putEscaped(exchange.path.isEmpty() ? exchange.authority : exchange.path)
                        .put(' ');
                line.putEscaped(exchange.connection.version().text());
            }
            line.put("\" ").put(exchange.status).put(' ').put(exchange.sentBytes);
            quoted(line, field(exchange, FieldName.REFERER));
            quoted(line, field(exchange, FieldName.USER_AGENT));
            line.put('\n');
        }

        private static void quoted(LineBuffer line, @Nullable AsciiString value) {
            line.put(" \"");
            if (value == null || value.isEmpty()) {
                line.put('-');
            } else {
                line.putEscaped(value);
            }
            line.put('"');
        }
    }
}
