package dev.gateway.filter.externalauth;

import dev.gateway.filter.FilterContext;
import dev.gateway.filter.RequestWord;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The fields that describe requests to auth servers, whatever the protocol. */
final class QuestionFields {
    private static final FieldName FORWARDED_METHOD = FieldName.of("X-Forwarded-Method");
    private static final FieldName FORWARDED_URI = FieldName.of("X-Forwarded-Uri");

    /** {@code Via} also for the case that the question comes back here: then it is known as a loop. */
    static final List<FieldName> ALWAYS = List.of(
            FieldName.VIA,
            FieldName.TRACEPARENT,
            FieldName.TRACESTATE,
            FieldName.of("b3"),
            FieldName.of("X-B3-TraceId"),
            FieldName.of("X-B3-SpanId"),
            FieldName.of("X-B3-ParentSpanId"),
            FieldName.of("X-B3-Sampled"),
            FieldName.of("X-B3-Flags"));

    private QuestionFields() {}

    /** Returns the request ID, null if the request has no ID. It is not read from a field: listeners choose which field has it. */
    static @Nullable AsciiString requestId(FilterContext context) {
        CharSequence id = context.word(RequestWord.REQUEST_ID);
        return id.isEmpty() ? null : AsciiString.of(id);
    }

    /** Sets the usual field to the request ID, whichever field the request has it in. */
    static void setRequestId(FilterContext context, Fields to) {
        AsciiString id = requestId(context);
        if (id != null) {
            to.set(FieldName.X_REQUEST_ID, id);
        }
    }

    static void copy(Fields from, FieldName name, Fields to) {
        for (int i = from.find(name, 0); i >= 0; i = from.find(name, i + 1)) {
            to.add(name, from.value(i));
        }
    }

    /** Adds what routes have seen. Nobody else may say it: many proxies pass on what clients write. */
    static void describe(RequestHead head, FilterContext context, Fields to) {
        setRequestId(context, to);
        to.add(FORWARDED_METHOD, head.routedMethod().name());
        to.add(FieldName.X_FORWARDED_PROTO, context.target().scheme());
        if (!head.authority().isEmpty()) {
            to.add(FieldName.X_FORWARDED_HOST, head.authority());
        }
        to.add(FORWARDED_URI, head.path());
        to.add(FieldName.X_FORWARDED_FOR, context.client().text());
    }
}
