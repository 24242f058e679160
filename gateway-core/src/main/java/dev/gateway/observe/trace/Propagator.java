package dev.gateway.observe.trace;

import dev.gateway.message.Fields;
import org.jspecify.annotations.Nullable;

/** Trace context propagator: a way to write in a head which trace it is part of. */
public enum Propagator {
    /** {@code traceparent} and {@code tracestate}, by the W3C's recommendation. */
    TRACE_CONTEXT {
        @Override
        @Nullable
        RemoteContext extract(Fields fields) {
            return TraceParent.extract(fields);
        }

        @Override
        void inject(Fields fields, Trace trace, long span) {
            TraceParent.inject(fields, trace, span);
        }

        @Override
        void remove(Fields fields) {
            TraceParent.remove(fields);
        }
    },
    /** Zipkin's, in one field. */
    B3 {
        @Override
        @Nullable
        RemoteContext extract(Fields fields) {
            return ZipkinFields.extractSingle(fields);
        }

        @Override
        void inject(Fields fields, Trace trace, long span) {
            ZipkinFields.injectSingle(fields, trace, span);
        }

        @Override
        void remove(Fields fields) {
            ZipkinFields.removeSingle(fields);
        }
    },
    /** Zipkin's, in several fields. */
    B3_MULTI {
        @Override
        @Nullable
        RemoteContext extract(Fields fields) {
            return ZipkinFields.extractMulti(fields);
        }

        @Override
        void inject(Fields fields, Trace trace, long span) {
            ZipkinFields.injectMulti(fields, trace, span);
        }

        @Override
        void remove(Fields fields) {
            ZipkinFields.removeMulti(fields);
        }
    };

    /** Returns what a head says, null if that is nothing or not well-formed. */
    abstract @Nullable RemoteContext extract(Fields fields);

    /** Says it, instead of what a head has said. */
    abstract void inject(Fields fields, Trace trace, long span);

    /** Takes out what a head says. */
    abstract void remove(Fields fields);
}
