package dev.gateway.observe.accesslog;

import dev.gateway.message.FieldName;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.observe.trace.Trace;
import dev.gateway.stream.ConnectionInfo.TlsInfo;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.SourceAddress;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A field that lines of the access log are made of. A record, because the JIT takes the fields of records for constants:
 * what a line is made of becomes one piece of code.
 *
 * @param text its name
 * @param key its name as JSON has it before a value that follows another
 * @param index its place among all fields
 * @param writer hands the value to a line
 */
record LogField(String text, String key, int index, Writer writer) {
    private static final Map<String, LogField> BY_TEXT = new LinkedHashMap<>();

    static final LogField TIME = field("time", (exchange, line) -> {
        line.begin();
        line.buffer.put(line.iso(exchange.startMillis)).put('.');
        line.buffer
                .putPadded((int) Math.floorMod(exchange.startMillis, 1000L), 3)
                .put('Z');
        line.end();
    });
    static final LogField CLF_TIME = field("clfTime", (exchange, line) -> line.word(line.clf(exchange.startMillis)));
    static final LogField EPOCH_MILLIS = field("epochMillis", (exchange, line) -> line.number(exchange.startMillis));
    static final LogField KIND = field("kind", (exchange, line) -> line.word(word(exchange.kind)));
    static final LogField RECORD = field("record", (exchange, line) -> line.word(word(line.moment())));
    static final LogField LISTENER =
            field("listener", (exchange, line) -> line.name(exchange.connection.listenerName()));
    static final LogField CLIENT = field("client", (exchange, line) -> line.text(exchange.client.text()));
    static final LogField CLIENT_PORT = field("clientPort", (exchange, line) -> port(line, exchange.client));
    static final LogField PEER = field(
            "peer", (exchange, line) -> line.text(exchange.connection.peer().text()));
    static final LogField PEER_PORT = field("peerPort", (exchange, line) -> port(line, exchange.connection.peer()));
    static final LogField CLIENT_SUBJECT = field("clientSubject", (exchange, line) -> {
        TlsInfo tls = exchange.connection.tls();
        line.text(tls == null ? null : tls.clientSubject());
    });
    static final LogField TLS_PROTOCOL = field("tlsProtocol", (exchange, line) -> {
        TlsInfo tls = exchange.connection.tls();
        line.text(tls == null ? null : tls.protocol());
    });
    static final LogField TLS_CIPHER = field("tlsCipher", (exchange, line) -> {
        TlsInfo tls = exchange.connection.tls();
        line.text(tls == null ? null : tls.cipher());
    });
    static final LogField SERVER_NAME = field("serverName", (exchange, line) -> {
        TlsInfo tls = exchange.connection.tls();
        line.text(tls == null ? null : tls.serverName());
    });
    static final LogField TUNNEL_SERVER_NAME =
            field("tunnelServerName", (exchange, line) -> line.text(exchange.tunnelServerName));
    static final LogField IDENTITY = field("identity", (exchange, line) -> line.text(exchange.identity));
    static final LogField REQUEST_ID = field("requestId", (exchange, line) -> line.text(exchange.requestId));
    static final LogField TRACE_ID = field("traceId", (exchange, line) -> {
        Trace trace = exchange.trace;
        if (trace == null) {
            line.absent();
        } else {
            line.begin();
            line.buffer.putHex(trace.high()).putHex(trace.low());
            line.end();
        }
    });
    static final LogField SPAN_ID = field("spanId", (exchange, line) -> {
        Trace trace = exchange.trace;
        if (trace == null) {
            line.absent();
        } else {
            line.begin();
            line.buffer.putHex(trace.span());
            line.end();
        }
    });
    static final LogField METHOD =
            field("method", (exchange, line) -> line.text(exchange.method == null ? null : exchange.method.name()));
    static final LogField SCHEME = field("scheme", (exchange, line) -> line.text(exchange.scheme));
    static final LogField AUTHORITY = field("authority", (exchange, line) -> line.text(exchange.authority));
    static final LogField PATH = field("path", (exchange, line) -> line.text(line.redaction.url(exchange.path)));
    static final LogField PROTOCOL = field(
            "protocol",
            (exchange, line) -> line.text(exchange.connection.version().text()));
    static final LogField REQUEST_LINE = field("requestLine", LogField::requestLine);
    static final LogField STATUS = field("status", (exchange, line) -> line.number(exchange.status));
    static final LogField CAUSE =
            field("cause", (exchange, line) -> line.text(exchange.cause == null ? null : exchange.cause.label()));
    static final LogField DETAIL =
            field("detail", (exchange, line) -> line.text(exchange.cause == null ? null : exchange.detail));
    static final LogField ROUTE = field("route", (exchange, line) -> line.name(exchange.route));
    static final LogField UPSTREAM = field("upstream", (exchange, line) -> line.name(exchange.upstream));
    static final LogField ENDPOINT = field("endpoint", (exchange, line) -> line.name(exchange.endpoint));
    static final LogField DIALLED = field("dialed", (exchange, line) -> {
        // An endpoint that is an address, and was dialed itself, is not said twice.
        DialedPeer hop = exchange.hop;
        boolean same = hop != null && exchange.endpoint != null && line.isName(exchange.endpoint, hop.dialed());
        line.text(hop == null || same ? null : hop.dialed());
    });
    static final LogField PARENT =
            field("parent", (exchange, line) -> line.text(exchange.hop == null ? null : exchange.hop.parent()));
    static final LogField ATTEMPTS = field("attempts", (exchange, line) -> line.number(exchange.attempts));
    static final LogField TRIED = field("tried", (exchange, line) -> {
        if (exchange.tried == null) {
            line.absent();
        } else {
            line.tried(exchange.tried);
        }
    });
    static final LogField HEDGE = field("hedge", (exchange, line) -> {
        ExchangeRecord.HedgeResult result = exchange.hedge();
        line.text(result == null ? null : result.label());
    });
    static final LogField GENERATION = field("generation", (exchange, line) -> line.number(exchange.generation));
    static final LogField RECEIVED_BYTES =
            field("receivedBytes", (exchange, line) -> line.number(exchange.receivedBytes));
    static final LogField SENT_BYTES = field("sentBytes", (exchange, line) -> line.number(exchange.sentBytes));
    static final LogField ENDED_BY =
            field("endedBy", (exchange, line) -> line.text(exchange.endedBy == null ? null : word(exchange.endedBy)));
    static final LogField DURATION_MICROS =
            field("durationMicros", (exchange, line) -> line.micros(exchange.startNanos, now(exchange, line)));
    static final LogField TLS_MICROS = field("tlsMicros", (exchange, line) -> {
        TlsInfo tls = exchange.connection.tls();
        duration(line, tls == null ? 0 : tls.handshakeNanos());
    });
    static final LogField HEAD_MICROS =
            field("headMicros", (exchange, line) -> line.micros(exchange.headNanos, exchange.startNanos));
    static final LogField PENDING_MICROS = field("pendingMicros", (exchange, line) -> {
        boolean had = exchange.requestedNanos != 0;
        duration(line, had ? exchange.requestedNanos - exchange.attemptNanos - exchange.dialNanos : 0);
    });
    static final LogField DIAL_MICROS = field("dialMicros", (exchange, line) -> duration(line, exchange.dialNanos));
    static final LogField CONNECT_MICROS =
            field("connectMicros", (exchange, line) -> line.micros(exchange.attemptNanos, exchange.requestedNanos));
    static final LogField RESPONSE_MICROS =
            field("responseMicros", (exchange, line) -> line.micros(exchange.requestedNanos, exchange.respondedNanos));
    static final LogField BODY_MICROS =
            field("bodyMicros", (exchange, line) -> line.micros(exchange.respondedNanos, now(exchange, line)));
    static final LogField USER_AGENT =
            field("userAgent", (exchange, line) -> line.header(exchange.fields, FieldName.USER_AGENT));
    static final LogField REFERER =
            field("referer", (exchange, line) -> line.header(exchange.fields, FieldName.REFERER));

    /** Hands the value to a line. */
    interface Writer {
        void write(ExchangeRecord exchange, LogLine line);
    }

    private static LogField field(String text, Writer writer) {
        LogField field = new LogField(text, key(text), BY_TEXT.size(), writer);
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

    void write(ExchangeRecord exchange, LogLine line) {
        writer.write(exchange, line);
    }

    private static long now(ExchangeRecord exchange, LogLine line) {
        return line.moment() == LogLine.Moment.CLOSE ? exchange.endNanos : exchange.reportedNanos;
    }

    private static void port(LogLine line, SourceAddress of) {
        if (of.port() == 0) {
            line.absent();
        } else {
            line.number(of.port());
        }
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
