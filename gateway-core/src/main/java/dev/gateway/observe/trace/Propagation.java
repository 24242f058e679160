package dev.gateway.observe.trace;

import dev.gateway.config.observe.TracingConfig.Propagator;
import dev.gateway.message.Fields;
import org.jspecify.annotations.Nullable;

/** Trace context propagation: the ways to write in a head which trace it is part of. */
final class Propagation {
    private Propagation() {}

    /** Returns what a head says, null if that is nothing or not well-formed. */
    static @Nullable RemoteContext extract(Propagator way, Fields fields) {
        return switch (way) {
            case TRACE_CONTEXT -> TraceParent.extract(fields);
            case B3 -> ZipkinFields.extractSingle(fields);
            case B3_MULTI -> ZipkinFields.extractMulti(fields);
        };
    }

    /** Says it, instead of what a head has said. */
    static void inject(Propagator way, Fields fields, Trace trace, long span) {
        switch (way) {
            case TRACE_CONTEXT -> TraceParent.inject(fields, trace, span);
            case B3 -> ZipkinFields.injectSingle(fields, trace, span);
            case B3_MULTI -> ZipkinFields.injectMulti(fields, trace, span);
        }
    }

    /** Takes out what a head says. */
    static void remove(Propagator way, Fields fields) {
        switch (way) {
            case TRACE_CONTEXT -> TraceParent.remove(fields);
            case B3 -> ZipkinFields.removeSingle(fields);
            case B3_MULTI -> ZipkinFields.removeMulti(fields);
        }
    }
}
