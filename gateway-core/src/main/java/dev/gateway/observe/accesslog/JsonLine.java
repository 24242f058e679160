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
    void write(ExchangeRecord exchange, Moment at) {
        moment = at;
        int start = buffer.length();
        fields(exchange);
        close(start);
    }

    /** Ends the object that begins there, and its line. */
    final void close(int start) {
        if (buffer.length() == start) {
            buffer.put('{');
        } else {
            buffer.replace(start, '{'); // the comma before the first key
        }
        buffer.put("}\n");
    }

    /** What comes next has that name, which {@link LogField#key} has made. */
    final void setKey(String name) {
        key = name;
    }

    /**
     * Writes field by field, as no loop over them would be compiled to what these lines are. Of tunnels there are more;
     * some that say the same in another way, or are seldom wanted, only templates have. Fields that most requests lack are not
     * even asked for.
     */
    final void fields(ExchangeRecord exchange) {
        boolean tls = exchange.connection.tls() != null;
        time(exchange);
        if (exchange.kind != Kind.HTTP) {
            put(LogField.KIND, exchange);
            put(LogField.RECORD, exchange);
        }
        text(LogField.LISTENER, exchange);
        text(LogField.CLIENT, exchange);
        text(LogField.PEER, exchange);
        if (tls) {
            text(LogField.CLIENT_SUBJECT, exchange);
        }
        text(LogField.IDENTITY, exchange);
        text(LogField.REQUEST_ID, exchange);
        if (exchange.trace != null) {
            put(LogField.TRACE_ID, exchange);
            put(LogField.SPAN_ID, exchange);
        }
        text(LogField.METHOD, exchange);
        text(LogField.SCHEME, exchange);
        text(LogField.AUTHORITY, exchange);
        text(LogField.TUNNEL_SERVER_NAME, exchange);
        text(LogField.PATH, exchange);
        text(LogField.PROTOCOL, exchange);
        number(LogField.STATUS, exchange);
        if (exchange.cause != null) {
            text(LogField.CAUSE, exchange);
            text(LogField.DETAIL, exchange);
        }
        text(LogField.ROUTE, exchange);
        text(LogField.UPSTREAM, exchange);
        text(LogField.ENDPOINT, exchange);
        if (exchange.hop != null) {
            text(LogField.DIALLED, exchange);
            text(LogField.PARENT, exchange);
        }
        number(LogField.ATTEMPTS, exchange);
        if (exchange.tried != null) {
            put(LogField.TRIED, exchange);
        }
        text(LogField.HEDGE, exchange);
        number(LogField.GENERATION, exchange);
        number(LogField.RECEIVED_BYTES, exchange);
        number(LogField.SENT_BYTES, exchange);
        text(LogField.ENDED_BY, exchange);
        number(LogField.DURATION_MICROS, exchange);
        if (tls) {
            number(LogField.TLS_MICROS, exchange);
        }
        number(LogField.HEAD_MICROS, exchange);
        number(LogField.PENDING_MICROS, exchange);
        number(LogField.DIAL_MICROS, exchange);
        number(LogField.CONNECT_MICROS, exchange);
        number(LogField.RESPONSE_MICROS, exchange);
        number(LogField.BODY_MICROS, exchange);
        text(LogField.USER_AGENT, exchange);
        text(LogField.REFERER, exchange);
        headers(",\"requestHeaders\":", requestHeaders, requestKeys, exchange.fields);
        headers(",\"responseHeaders\":", responseHeaders, responseKeys, exchange.responseFields);
    }

    void time(ExchangeRecord exchange) {
        buffer.put(LogField.TIME.key()).put('"');
        putTime(exchange.startMillis);
        buffer.put('"');
    }

    /** Writes a field that has a writer. */
    void put(LogField field, ExchangeRecord exchange) {
        key = field.key();
        field.write(exchange, this);
    }

    /** Writes a field that is a number. */
    void number(LogField field, ExchangeRecord exchange) {
        LogField.Amount number = field.number();
        long value = number == null ? LogField.ABSENT : number.of(exchange, this);
        if (value != LogField.ABSENT) {
            buffer.put(field.key()).put(value);
        }
    }

    /** Writes a field that is a text. */
    void text(LogField field, ExchangeRecord exchange) {
        LogField.Value text = field.value();
        Object value = text == null ? null : text.of(exchange, this);
        if (value instanceof AsciiString bytes) {
            if (!isAbsent(bytes)) {
                buffer.putJson(field.key(), bytes);
            }
        } else if (value instanceof Names.Name name) {
            if (!name.text.isEmpty()) {
                buffer.put(field.key()).put(name.json);
            }
        } else if (value instanceof String characters && !characters.isEmpty()) {
            buffer.putJson(field.key(), characters);
        }
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
                AsciiString value = header(fields, names.get(i));
                if (value != null) {
                    buffer.putJson(keys[i], value);
                }
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
