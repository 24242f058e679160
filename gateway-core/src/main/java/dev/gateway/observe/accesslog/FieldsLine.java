package dev.gateway.observe.accesslog;

import dev.gateway.config.observe.AccessLogConfig;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.Tried;
import dev.gateway.observe.LineBuffer;
import dev.gateway.observe.Names;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A JSON object per line, with the fields that the configuration wants, by its names. */
final class FieldsLine extends JsonLine {
    private final @Nullable String[] keys; // by the index of the field; null for one that is left out
    private final List<Own> added;
    private boolean inText; // whether values are pieces of one text

    /**
     * A field of the configuration's own, ready to be written.
     *
     * @param isText whether its value is put together, or else the value of its only part
     */
    private record Own(String key, List<LogStep> steps, boolean isText) {}

    FieldsLine(AccessLogConfig.Lines lines, AccessLogConfig.Fields fields, LineBuffer buffer, Redaction redaction) {
        super(lines, buffer, redaction);
        keys = new String[LogField.all().size()];
        fields.names().forEach((field, name) -> keys[LogField.of(field).index()] = LogField.key(name));
        added = fields.add().stream().map(FieldsLine::own).toList();
    }

    private static Own own(AccessLogConfig.Added field) {
        List<LogStep> steps = field.value().parts().stream().map(LogStep::of).toList();
        LogStep first = steps.get(0);
        boolean alone = steps.size() == 1
                && first.literal() == null
                && !LogField.REQUEST_LINE.equals(first.field()); // which writes its value in pieces
        return new Own(LogField.key(field.name()), steps, !alone);
    }

    @Override
    void write(ExchangeRecord exchange, Moment at) {
        moment = at;
        int start = buffer.length();
        inText = false; // an exception may have ended the line before within a text
        fields(exchange);
        for (Own own : added) {
            if (own.isText) {
                putText(own, exchange);
            } else {
                setKey(own.key);
                put(own.steps.get(0), exchange);
            }
        }
        close(start);
    }

    @Override
    void put(LogField field, ExchangeRecord exchange) {
        String key = keys[field.index()];
        if (key != null) {
            setKey(key);
            field.write(exchange, this);
        }
    }

    @Override
    void time(ExchangeRecord exchange) {
        put(LogField.TIME, exchange);
    }

    @Override
    void number(LogField field, ExchangeRecord exchange) {
        put(field, exchange);
    }

    @Override
    void text(LogField field, ExchangeRecord exchange) {
        put(field, exchange);
    }

    private void putText(Own own, ExchangeRecord exchange) {
        int start = buffer.length();
        buffer.put(own.key).put('"');
        int empty = buffer.length();
        inText = true;
        for (LogStep step : own.steps) {
            put(step, exchange);
        }
        inText = false;
        if (buffer.length() == empty) {
            buffer.cut(start);
        } else {
            buffer.put('"');
        }
    }

    private void put(LogStep step, ExchangeRecord exchange) {
        if (step.literal() != null) {
            buffer.putJson(step.literal());
        } else {
            step.writeValue(exchange, this);
        }
    }

    @Override
    void begin() {
        if (!inText) {
            super.begin();
        }
    }

    @Override
    void end() {
        if (!inText) {
            super.end();
        }
    }

    @Override
    void number(long value) {
        if (inText) {
            buffer.put(value);
        } else {
            super.number(value);
        }
    }

    @Override
    void tried(List<Tried> attempts) {
        if (inText) {
            characters(text(attempts));
        } else {
            super.tried(attempts);
        }
    }

    @Override
    void name(Names.Name name) {
        if (inText) {
            buffer.putJson(name.text);
        } else {
            super.name(name);
        }
    }
}
