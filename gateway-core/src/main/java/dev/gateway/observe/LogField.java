package dev.gateway.observe;

import dev.gateway.message.FieldName;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.stream.ConnectionInfo.TlsInfo;
import dev.gateway.stream.Hop;
import dev.gateway.trace.Trace;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;

/** The fields that lines of the access log are made of, in the order in which JSON has them. */
enum LogField {
    TIME("time", (exchange, line) -> {
        line.begin();
        line.buffer.put(line.iso(exchange.startMillis)).put('.');
        line.buffer
                .putPadded((int) Math.floorMod(exchange.startMillis, 1000L), 3)
                .put('Z');
        line.end();
    }),
    CLF_TIME("clfTime", (exchange, line) -> line.word(line.clf(exchange.startMillis))),
    EPOCH_MILLIS("epochMillis", (exchange, line) -> line.number(exchange.startMillis)),
    KIND("kind", (exchange, line) -> line.word(word(exchange.kind))),
    RECORD("record", (exchange, line) -> line.word(word(line.moment()))),
    LISTENER("listener", (exchange, line) -> line.text(exchange.connection.listenerName())),
    PEER("peer", (exchange, line) -> line.text(exchange.connection.peerIp())),
    PEER_PORT("peerPort", (exchange, line) -> {
        var peer = exchange.connection.peer();
        if (peer == null) {
            line.absent();
        } else {
            line.number(peer.getPort());
        }
    }),
    CLIENT_SUBJECT("clientSubject", (exchange, line) -> {
        TlsInfo tls = exchange.connection.tls();
        line.text(tls == null ? null : tls.clientSubject());
    }),
    TLS_PROTOCOL("tlsProtocol", (exchange, line) -> {
        TlsInfo tls = exchange.connection.tls();
        line.text(tls == null ? null : tls.protocol());
    }),
    TLS_CIPHER("tlsCipher", (exchange, line) -> {
        TlsInfo tls = exchange.connection.tls();
        line.text(tls == null ? null : tls.cipher());
    }),
    SERVER_NAME("serverName", (exchange, line) -> {
        TlsInfo tls = exchange.connection.tls();
        line.text(tls == null ? null : tls.serverName());
    }),
    IDENTITY("identity", (exchange, line) -> line.text(exchange.identity)),
    REQUEST_ID("requestId", (exchange, line) -> line.text(exchange.requestId)),
    TRACE_ID("traceId", (exchange, line) -> {
        Trace trace = exchange.trace;
        if (trace == null) {
            line.absent();
        } else {
            line.begin();
            line.buffer.putHex(trace.high()).putHex(trace.low());
            line.end();
        }
    }),
    SPAN_ID("spanId", (exchange, line) -> {
        Trace trace = exchange.trace;
        if (trace == null) {
            line.absent();
        } else {
            line.begin();
            line.buffer.putHex(trace.span());
            line.end();
        }
    }),
    METHOD("method", (exchange, line) -> line.text(exchange.method == null ? null : exchange.method.name())),
    SCHEME("scheme", (exchange, line) -> line.text(exchange.scheme)),
    AUTHORITY("authority", (exchange, line) -> line.text(exchange.authority)),
    PATH("path", (exchange, line) -> line.text(line.redaction.url(exchange.path))),
    PROTOCOL(
            "protocol",
            (exchange, line) -> line.text(exchange.connection.version().text())),
    REQUEST_LINE("requestLine", LogField::requestLine),
    STATUS("status", (exchange, line) -> line.number(exchange.status)),
    CAUSE("cause", (exchange, line) -> line.text(exchange.cause == null ? null : exchange.cause.label())),
    DETAIL("detail", (exchange, line) -> line.text(exchange.cause == null ? null : exchange.detail)),
    ROUTE("route", (exchange, line) -> line.text(exchange.route)),
    UPSTREAM("upstream", (exchange, line) -> line.text(exchange.upstream)),
    ENDPOINT(
            "endpoint", (exchange, line) -> line.text(exchange.endpoint == null ? null : exchange.endpoint.toString())),
    DIALLED("dialled", (exchange, line) -> {
        // An endpoint that is an address, and was dialled itself, is not said twice.
        Hop hop = exchange.hop;
        boolean same = hop != null && exchange.endpoint != null && hop.dialled().equals(exchange.endpoint.toString());
        line.text(hop == null || same ? null : hop.dialled());
    }),
    PARENT("parent", (exchange, line) -> line.text(exchange.hop == null ? null : exchange.hop.parent())),
    ATTEMPTS("attempts", (exchange, line) -> line.number(exchange.attempts)),
    GENERATION("generation", (exchange, line) -> line.number(exchange.generation)),
    RECEIVED_BYTES("receivedBytes", (exchange, line) -> line.number(exchange.receivedBytes)),
    SENT_BYTES("sentBytes", (exchange, line) -> line.number(exchange.sentBytes)),
    ENDED_BY("endedBy", (exchange, line) -> line.text(exchange.endedBy == null ? null : word(exchange.endedBy))),
    DURATION_MICROS("durationMicros", (exchange, line) -> line.micros(exchange.startNanos, now(exchange, line))),
    TLS_MICROS("tlsMicros", (exchange, line) -> {
        TlsInfo tls = exchange.connection.tls();
        duration(line, tls == null ? 0 : tls.handshakeNanos());
    }),
    HEAD_MICROS("headMicros", (exchange, line) -> line.micros(exchange.headNanos, exchange.startNanos)),
    PENDING_MICROS("pendingMicros", (exchange, line) -> {
        boolean had = exchange.requestedNanos != 0;
        duration(line, had ? exchange.requestedNanos - exchange.attemptNanos - exchange.dialNanos : 0);
    }),
    DIAL_MICROS("dialMicros", (exchange, line) -> duration(line, exchange.dialNanos)),
    CONNECT_MICROS("connectMicros", (exchange, line) -> line.micros(exchange.attemptNanos, exchange.requestedNanos)),
    RESPONSE_MICROS(
            "responseMicros", (exchange, line) -> line.micros(exchange.requestedNanos, exchange.respondedNanos)),
    BODY_MICROS("bodyMicros", (exchange, line) -> line.micros(exchange.respondedNanos, now(exchange, line))),
    USER_AGENT("userAgent", (exchange, line) -> line.header(exchange.fields, FieldName.USER_AGENT)),
    REFERER("referer", (exchange, line) -> line.header(exchange.fields, FieldName.REFERER));

    /** Those that JSON has of tunnels; others say the same in another way, or are seldom wanted. */
    static final LogField[] OF_TUNNELS =
            without(EnumSet.of(CLF_TIME, EPOCH_MILLIS, PEER_PORT, TLS_PROTOCOL, TLS_CIPHER, SERVER_NAME, REQUEST_LINE));

    /** Those that JSON has of all else. */
    static final LogField[] OF_REQUESTS = Arrays.stream(OF_TUNNELS)
            .filter(field -> field != KIND && field != RECORD)
            .toArray(LogField[]::new);

    private static final Map<String, LogField> BY_TEXT = new HashMap<>();

    static {
        for (LogField field : values()) {
            BY_TEXT.put(field.text, field);
        }
    }

    private final String text;
    private final byte[] key;
    private final Writer writer;

    /** Hands the value to a line. */
    private interface Writer {
        void write(ExchangeRecord exchange, LogLine line);
    }

    LogField(String text, Writer writer) {
        this.text = text;
        this.key = JsonLine.key(text);
        this.writer = writer;
    }

    private static LogField[] without(EnumSet<LogField> left) {
        return EnumSet.complementOf(left).toArray(LogField[]::new);
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

    String text() {
        return text;
    }

    /** Returns its name as JSON has it before a value; not to be changed. */
    byte[] key() {
        return key;
    }

    void write(ExchangeRecord exchange, LogLine line) {
        writer.write(exchange, line);
    }

    private static long now(ExchangeRecord exchange, LogLine line) {
        return line.moment() == LogLine.Moment.CLOSE ? exchange.endNanos : exchange.reportedNanos;
    }

    /** What took no time is left out: most requests find a connection at once. */
    private static void duration(LogLine line, long nanos) {
        if (nanos >= 1000) {
            line.number(nanos / 1000);
        } else {
            line.absent();
        }
    }

    private static void requestLine(ExchangeRecord exchange, LogLine line) {
        if (exchange.method == null) {
            line.absent();
            return;
        }
        line.bytes(exchange.method.name());
        line.buffer.put(' ');
        line.text(exchange.path.isEmpty() ? exchange.authority : line.redaction.url(exchange.path));
        line.buffer.put(' ');
        line.text(exchange.connection.version().text());
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
