package dev.gateway.observe;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.observe.ExchangeRecord.Kind;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A JSON object per line, with the words of the metrics. What has no value is left out. */
final class JsonLine extends LogLine {
    private final AccessLogSettings.Json settings;
    private byte[] key = {}; // the name of what comes next, as it is written
    private boolean first;

    JsonLine(AccessLogSettings.Json settings, LineBuffer buffer, Redaction redaction) {
        super(buffer, redaction);
        this.settings = settings;
    }

    @Override
    boolean has(Moment moment) {
        return true;
    }

    @Override
    void write(ExchangeRecord exchange) {
        buffer.put('{');
        first = true;
        for (LogField field : exchange.kind == Kind.HTTP ? LogField.OF_REQUESTS : LogField.OF_TUNNELS) {
            key = field.key();
            field.write(exchange, this);
        }
        headers("requestHeaders", settings.requestHeaders(), exchange.fields);
        headers("responseHeaders", settings.responseHeaders(), exchange.responseFields);
        buffer.put('}');
    }

    private void headers(String object, List<FieldName> names, @Nullable Fields fields) {
        if (names.isEmpty() || fields == null) {
            return;
        }
        boolean none = true;
        for (FieldName each : names) {
            if (fields.contains(each)) {
                if (none) {
                    none = false;
                    buffer.put(",\"").put(object).put("\":{");
                    first = true;
                }
                key = key(each.lower().toString());
                header(fields, each);
            }
        }
        if (!none) {
            buffer.put('}');
        }
    }

    private void putKey() {
        if (!first) {
            buffer.put(',');
        }
        first = false;
        buffer.put(key);
    }

    /** Returns how a name is written before its value. */
    static byte[] key(String name) {
        return ("\"" + name + "\":").getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    void begin() {
        putKey();
        buffer.put('"');
    }

    @Override
    void end() {
        buffer.put('"');
    }

    @Override
    void absent() {}

    @Override
    void number(long value) {
        putKey();
        buffer.put(value);
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
}
