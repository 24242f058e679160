package dev.gateway.observe.accesslog;

import dev.gateway.config.observe.AccessLogTemplate;
import dev.gateway.config.observe.AccessLogTemplate.Field;
import dev.gateway.config.observe.AccessLogTemplate.Literal;
import dev.gateway.config.observe.AccessLogTemplate.Part;
import dev.gateway.message.FieldName;
import dev.gateway.observe.ExchangeRecord;
import org.jspecify.annotations.Nullable;

/** A part of a template, ready to be written: either a literal, or a field, or a header. */
record LogStep(@Nullable String literal, @Nullable LogField field, @Nullable FieldName header, boolean ofRequest) {
    static LogStep of(Part part) {
        if (part instanceof Literal literal) {
            return new LogStep(literal.text(), null, null, false);
        }
        Field field = (Field) part;
        boolean ofRequest = field.name().equals(AccessLogTemplate.REQUEST_HEADER);
        return ofRequest || field.name().equals(AccessLogTemplate.RESPONSE_HEADER)
                ? new LogStep(null, null, FieldName.of(field.argument()), ofRequest)
                : new LogStep(null, LogField.of(field.name()), null, false);
    }

    /** Writes the value of what is no literal. */
    void writeValue(ExchangeRecord exchange, LogLine line) {
        if (field != null) {
            field.write(exchange, line);
        } else if (header != null) {
            line.putValue(
                    ofRequest ? line.requestHeader(exchange, header) : line.header(exchange.responseFields, header));
        }
    }
}
