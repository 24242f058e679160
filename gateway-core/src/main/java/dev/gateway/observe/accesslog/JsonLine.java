package dev.gateway.observe.accesslog;

import dev.gateway.config.observe.AccessLogConfig.Lines;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.observe.ExchangeRecord.Tried;
import dev.gateway.observe.LineBuffer;
import dev.gateway.observe.Names;
import io.netty.util.AsciiString;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A JSON object per line, with the words of the metrics. What has no value is left out. */
class JsonLine extends LogLine {
    private final List<FieldName> requestHeaders;
    private final List<FieldName> responseHeaders;
    private final String[] requestKeys;
    private final String[] responseKeys;
    private String key = ""; // the name of what comes next, as it is written

    JsonLine(Lines settings, LineBuffer buffer, Redaction redaction) {
        super(buffer, redaction);
        this.requestHeaders =
                settings.requestHeaders().stream().map(FieldName::of).toList();
        this.responseHeaders =
                settings.responseHeaders().stream().map(FieldName::of).toList();
        this.requestKeys = keys(requestHeaders);
        this.responseKeys = keys(responseHeaders);
    }

    private static String[] keys(List<FieldName> names) {
        return names.stream().map(name -> LogField.key(name.lower().toString())).toArray(String[]::new);
    }

    @Override
    final boolean has(Moment moment) {
        return true;
    }

    @Override
    void write(ExchangeRecord exchange) {
        int start = buffer.length();
        fields(exchange);
        close(start);
    }

    /** Ends the object that begins there. */
    final void close(int start) {
        if (buffer.length() == start) {
            buffer.put('{');
        } else {
            buffer.replace(start, '{'); // the comma before the first key
        }
        buffer.put('}');
    }

    /** What comes next has that name, which {@link LogField#key} has made. */
    final void setKey(String name) {
        key = name;
    }

    /**
     * Writes field by field, as no loop over them would be compiled to what these lines are. Of tunnels there are more;
     * some that say the same in another way, or are seldom wanted, only templates have.
     */
    final void fields(ExchangeRecord exchange) {
        put(LogField.TIME, exchange);
        if (exchange.kind != Kind.HTTP) {
            put(LogField.KIND, exchange);
            put(LogField.RECORD, exchange);
        }
        put(LogField.LISTENER, exchange);
        put(LogField.CLIENT, exchange);
        put(LogField.PEER, exchange);
        put(LogField.CLIENT_SUBJECT, exchange);
        put(LogField.IDENTITY, exchange);
        put(LogField.REQUEST_ID, exchange);
        put(LogField.TRACE_ID, exchange);
        put(LogField.SPAN_ID, exchange);
        put(LogField.METHOD, exchange);
        put(LogField.SCHEME, exchange);
        put(LogField.AUTHORITY, exchange);
        put(LogField.TUNNEL_SERVER_NAME, exchange);
        put(LogField.PATH, exchange);
        put(LogField.PROTOCOL, exchange);
        put(LogField.STATUS, exchange);
        put(LogField.CAUSE, exchange);
        put(LogField.DETAIL, exchange);
        put(LogField.ROUTE, exchange);
        put(LogField.UPSTREAM, exchange);
        put(LogField.ENDPOINT, exchange);
        put(LogField.DIALLED, exchange);
        put(LogField.PARENT, exchange);
        put(LogField.ATTEMPTS, exchange);
        put(LogField.TRIED, exchange);
        put(LogField.HEDGE, exchange);
        put(LogField.GENERATION, exchange);
        put(LogField.RECEIVED_BYTES, exchange);
        put(LogField.SENT_BYTES, exchange);
        put(LogField.ENDED_BY, exchange);
        put(LogField.DURATION_MICROS, exchange);
        put(LogField.TLS_MICROS, exchange);
        put(LogField.HEAD_MICROS, exchange);
        put(LogField.PENDING_MICROS, exchange);
        put(LogField.DIAL_MICROS, exchange);
        put(LogField.CONNECT_MICROS, exchange);
        put(LogField.RESPONSE_MICROS, exchange);
        put(LogField.BODY_MICROS, exchange);
        put(LogField.USER_AGENT, exchange);
        put(LogField.REFERER, exchange);
        headers(",\"requestHeaders\":", requestHeaders, requestKeys, exchange.fields);
        headers(",\"responseHeaders\":", responseHeaders, responseKeys, exchange.responseFields);
    }

    void put(LogField field, ExchangeRecord exchange) {
        key = field.key();
        field.write(exchange, this);
    }

    private void headers(String object, List<FieldName> names, String[] keys, @Nullable Fields fields) {
        if (keys.length == 0 || fields == null) {
            return;
        }
        int start = -1;
        for (int i = 0; i < keys.length; i++) {
            if (fields.contains(names.get(i))) {
                if (start < 0) {
                    buffer.put(object);
                    start = buffer.length();
                }
                key = keys[i];
                header(fields, names.get(i));
            }
        }
        if (start >= 0) {
            buffer.replace(start, '{');
            buffer.put('}');
        }
    }

    @Override
    void begin() {
        buffer.put(key).put('"');
    }

    @Override
    void end() {
        buffer.put('"');
    }

    @Override
    void absent() {}

    @Override
    void number(long value) {
        buffer.put(key).put(value);
    }

    @Override
    void tried(List<Tried> attempts) {
        buffer.put(key);
        char before = '[';
        for (Tried each : attempts) {
            buffer.put(before).put("{\"endpoint\":\"").putJson(each.endpoint().toString());
            if (each.cause() != null) {
                buffer.put("\",\"cause\":\"").put(each.cause().label()).put("\"}");
            } else if (each.status() != 0) {
                buffer.put("\",\"status\":").put(each.status()).put('}');
            } else {
                buffer.put("\"}");
            }
            before = ',';
        }
        buffer.put(']');
    }

    @Override
    void bytes(AsciiString value) {
        begin();
        buffer.putJson(value);
        end();
    }

    @Override
    void characters(String value) {
        begin();
        buffer.putJson(value);
        end();
    }

    @Override
    void name(Names.Name name) {
        buffer.put(key).put(name.json);
    }
}
