package dev.gateway.observe.accesslog;

import dev.gateway.message.FieldName;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.observe.Names;
import dev.gateway.observe.trace.Trace;
import dev.gateway.stream.ConnectionInfo.TlsInfo;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.SourceAddress;
import io.netty.util.AsciiString;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A field that lines of the access log are made of. It returns its value, which the line writes in its own format. A record,
 * because the JIT takes the fields of records for constants: what a line is made of becomes one piece of code.
 *
 * @param text its name
 * @param key its name as JSON has it before a value that follows another
 * @param index its place among all fields
 * @param value returns its value; null for a number, and for what has a writer
 * @param number returns its value if that is a number, else null
 * @param writer writes its value if that needs more than one call, else null
 */
record LogField(
        String text, String key, int index, @Nullable Value value, @Nullable Amount number, @Nullable Writer writer) {
    /** What {@link Amount} returns if there is no number. */
    static final long ABSENT = Long.MIN_VALUE;

    private static final Map<String, LogField> BY_TEXT = new LinkedHashMap<>();

    static final LogField TIME = written("time", (exchange, line) -> {
        line.begin();
        line.putTime(exchange.startMillis);
        line.end();
        return true;
    });
    static final LogField CLF_TIME = written("clfTime", (exchange, line) -> line.word(line.clf(exchange.startMillis)));
    static final LogField EPOCH_MILLIS = number("epochMillis", (exchange, line) -> exchange.startMillis);
    static final LogField KIND = written("kind", (exchange, line) -> line.word(word(exchange.kind)));
    static final LogField RECORD = written("record", (exchange, line) -> line.word(word(line.moment)));
    static final LogField LISTENER =
            field("listener", (exchange, line) -> name(exchange.connection.listenerName(), line));
    static final LogField CLIENT = field("client", (exchange, line) -> exchange.client.text());
    static final LogField CLIENT_PORT = number("clientPort", (exchange, line) -> port(exchange.client));
    static final LogField PEER =
            field("peer", (exchange, line) -> exchange.connection.peer().text());
    static final LogField PEER_PORT = number("peerPort", (exchange, line) -> port(exchange.connection.peer()));
    static final LogField CLIENT_SUBJECT = ofTls("clientSubject", TlsInfo::clientSubject);
    static final LogField TLS_PROTOCOL = ofTls("tlsProtocol", TlsInfo::protocol);
    static final LogField TLS_CIPHER = ofTls("tlsCipher", TlsInfo::cipher);
    static final LogField SERVER_NAME = ofTls("serverName", TlsInfo::serverName);
    static final LogField TUNNEL_SERVER_NAME = field("tunnelServerName", (exchange, line) -> exchange.tunnelServerName);
    static final LogField IDENTITY = field("identity", (exchange, line) -> exchange.identity);
    static final LogField REQUEST_ID = field("requestId", (exchange, line) -> exchange.requestId);
    static final LogField TRACE_ID = written("traceId", (exchange, line) -> {
        Trace trace = exchange.trace;
        if (trace == null) {
            return false;
        }
        line.begin();
        line.buffer.putHex(trace.high()).putHex(trace.low());
        line.end();
        return true;
    });
    static final LogField SPAN_ID = written("spanId", (exchange, line) -> {
        Trace trace = exchange.trace;
        if (trace == null) {
            return false;
        }
        line.begin();
        line.buffer.putHex(trace.span());
        line.end();
        return true;
    });
    static final LogField METHOD =
            field("method", (exchange, line) -> exchange.method == null ? null : exchange.method.name());
    static final LogField SCHEME = field("scheme", (exchange, line) -> exchange.scheme);
    static final LogField AUTHORITY = field("authority", (exchange, line) -> exchange.authority);
    static final LogField PATH = field("path", (exchange, line) -> line.redaction.url(exchange.path));
    static final LogField PROTOCOL =
            field("protocol", (exchange, line) -> exchange.connection.version().text());
    static final LogField REQUEST_LINE = written("requestLine", LogField::requestLine);
    static final LogField STATUS = number("status", (exchange, line) -> exchange.status);
    static final LogField CAUSE =
            field("cause", (exchange, line) -> exchange.cause == null ? null : exchange.cause.label());
    static final LogField DETAIL = field("detail", (exchange, line) -> exchange.cause == null ? null : exchange.detail);
    static final LogField ROUTE = field("route", (exchange, line) -> name(exchange.route, line));
    static final LogField UPSTREAM = field("upstream", (exchange, line) -> name(exchange.upstream, line));
    static final LogField ENDPOINT = field("endpoint", (exchange, line) -> name(exchange.endpoint, line));
    static final LogField DIALLED = field("dialed", (exchange, line) -> {
        // An endpoint that is an address, and was dialed itself, is not said twice.
        DialedPeer hop = exchange.hop;
        boolean same = hop != null
                && exchange.endpoint != null
                && line.names.of(exchange.endpoint).text.equals(hop.dialed());
        return hop == null || same ? null : hop.dialed();
    });
    static final LogField PARENT =
            field("parent", (exchange, line) -> exchange.hop == null ? null : exchange.hop.parent());
    static final LogField ATTEMPTS = number("attempts", (exchange, line) -> exchange.attempts);
    static final LogField TRIED = written("tried", (exchange, line) -> {
        if (exchange.tried != null) {
            line.tried(exchange.tried);
        }
        return exchange.tried != null;
    });
    static final LogField HEDGE = field("hedge", (exchange, line) -> {
        ExchangeRecord.HedgeResult result = exchange.hedge();
        return result == null ? null : result.label();
    });
    static final LogField GENERATION = number("generation", (exchange, line) -> exchange.generation);
    static final LogField RECEIVED_BYTES = number("receivedBytes", (exchange, line) -> exchange.receivedBytes);
    static final LogField SENT_BYTES = number("sentBytes", (exchange, line) -> exchange.sentBytes);
    static final LogField ENDED_BY =
            field("endedBy", (exchange, line) -> exchange.endedBy == null ? null : word(exchange.endedBy));
    static final LogField DURATION_MICROS =
            number("durationMicros", (exchange, line) -> micros(exchange.startNanos, now(exchange, line)));
    static final LogField TLS_MICROS = number("tlsMicros", (exchange, line) -> {
        TlsInfo tls = exchange.connection.tls();
        return duration(tls == null ? 0 : tls.handshakeNanos());
    });
    static final LogField HEAD_MICROS =
            number("headMicros", (exchange, line) -> micros(exchange.headNanos, exchange.startNanos));
    static final LogField PENDING_MICROS = number("pendingMicros", (exchange, line) -> {
        boolean had = exchange.requestedNanos != 0;
        return duration(had ? exchange.requestedNanos - exchange.attemptNanos - exchange.dialNanos : 0);
    });
    static final LogField DIAL_MICROS = number("dialMicros", (exchange, line) -> duration(exchange.dialNanos));
    static final LogField CONNECT_MICROS =
            number("connectMicros", (exchange, line) -> micros(exchange.attemptNanos, exchange.requestedNanos));
    static final LogField RESPONSE_MICROS =
            number("responseMicros", (exchange, line) -> micros(exchange.requestedNanos, exchange.respondedNanos));
    static final LogField BODY_MICROS =
            number("bodyMicros", (exchange, line) -> micros(exchange.respondedNanos, now(exchange, line)));
    static final LogField USER_AGENT =
            field("userAgent", (exchange, line) -> line.header(exchange.fields, FieldName.USER_AGENT));
    static final LogField REFERER =
            field("referer", (exchange, line) -> line.header(exchange.fields, FieldName.REFERER));

    /** Returns a value. */
    interface Value {
        /** Returns an {@link AsciiString} that a peer has sent, any {@code String}, or a name; null for no value. */
        @Nullable
        Object of(ExchangeRecord exchange, LogLine line);
    }

    /** Returns a number. */
    interface Amount {
        /** Returns the number, or {@link #ABSENT}. */
        long of(ExchangeRecord exchange, LogLine line);
    }

    /** Writes a value. */
    interface Writer {
        /** Writes the value to the line, and returns whether there is one. */
        boolean write(ExchangeRecord exchange, LogLine line);
    }

    private static LogField field(String text, Value value) {
        return add(text, value, null, null);
    }

    private static LogField number(String text, Amount number) {
        return add(text, null, number, null);
    }

    private static LogField written(String text, Writer writer) {
        return add(text, null, null, writer);
    }

    private static LogField ofTls(String text, Function<TlsInfo, @Nullable String> value) {
        return field(text, (exchange, line) -> {
            TlsInfo tls = exchange.connection.tls();
            return tls == null ? null : value.apply(tls);
        });
    }

    private static LogField add(String text, @Nullable Value value, @Nullable Amount number, @Nullable Writer writer) {
        LogField field = new LogField(text, key(text), BY_TEXT.size(), value, number, writer);
        BY_TEXT.put(text, field);
        return field;
    }

    /** Returns how JSON has a name before its value, if it is not the first of its object. */
    static String key(String name) {
        return ",\"" + name + "\":";
    }

    /** Returns all that there are. */
    static Collection<LogField> all() {
        return BY_TEXT.values();
    }

    /**
     * Returns the field of that name.
     *
     * @throws IllegalArgumentException if there is none
     */
    static LogField of(String text) {
        LogField field = BY_TEXT.get(text);
        if (field == null) {
            throw new IllegalArgumentException("no field of the access log is named " + text);
        }
        return field;
    }

    /** Writes the value to a line, in the way of the line. */
    void write(ExchangeRecord exchange, LogLine line) {
        if (value != null) {
            line.putValue(value.of(exchange, line));
        } else if (number != null) {
            long found = number.of(exchange, line);
            if (found == ABSENT) {
                line.absent();
            } else {
                line.number(found);
            }
        } else if (writer != null && !writer.write(exchange, line)) {
            line.absent();
        }
    }

    private static long now(ExchangeRecord exchange, LogLine line) {
        return line.moment == LogLine.Moment.CLOSE ? exchange.endNanos : exchange.reportedNanos;
    }

    /** Returns the name of what lines name again and again: it is written by its {@code toString}. */
    private static Names.@Nullable Name name(@Nullable Object value, LogLine line) {
        return value == null ? null : line.names.of(value);
    }

    private static long port(SourceAddress of) {
        return of.port() == 0 ? ABSENT : of.port();
    }

    /** Returns a duration in microseconds. What took no time is left out: most requests find a connection at once. */
    private static long duration(long nanos) {
        return nanos >= 1000 ? nanos / 1000 : ABSENT;
    }

    /** Returns a duration in microseconds, absent unless both moments came and in that order. */
    private static long micros(long from, long to) {
        return from != 0 && to != 0 && to - from >= 0 ? (to - from) / 1000 : ABSENT;
    }

    private static boolean requestLine(ExchangeRecord exchange, LogLine line) {
        if (exchange.method == null) {
            return false;
        }
        line.bytes(exchange.method.name());
        line.buffer.put(' ');
        line.putValue(exchange.path.isEmpty() ? exchange.authority : line.redaction.url(exchange.path));
        line.buffer.put(' ');
        line.putValue(exchange.connection.version().text());
        return true;
    }

    private static String word(Kind kind) {
        return switch (kind) {
            case HTTP -> "http";
            case TUNNEL -> "tunnel";
            case WEBSOCKET -> "websocket";
            case UPGRADE -> "upgrade";
        };
    }

    private static String word(LogLine.Moment moment) {
        return switch (moment) {
            case OPEN -> "open";
            case INTERIM -> "interim";
            case CLOSE -> "close";
        };
    }

    private static String word(ExchangeRecord.Side side) {
        return switch (side) {
            case CLIENT -> "client";
            case UPSTREAM -> "upstream";
            case GATEWAY -> "gateway";
        };
    }
}
