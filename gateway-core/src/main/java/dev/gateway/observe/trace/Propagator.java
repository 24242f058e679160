package dev.gateway.observe.trace;

import dev.gateway.message.Fields;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Trace context propagator: a way to write in a head which trace it is part of. */
public enum Propagator {
    /** {@code traceparent} and {@code tracestate}, by the W3C's recommendation. */
    TRACE_CONTEXT(TraceParent::extract, TraceParent::inject, TraceParent::remove),
    /** Zipkin's, in one field. */
    B3(ZipkinFields::extractSingle, ZipkinFields::injectSingle, ZipkinFields::removeSingle),
    /** Zipkin's, in several fields. */
    B3_MULTI(ZipkinFields::extractMulti, ZipkinFields::injectMulti, ZipkinFields::removeMulti);

    private final Function<Fields, @Nullable RemoteContext> extraction;
    private final Injection injection;
    private final Consumer<Fields> removal;

    Propagator(Function<Fields, @Nullable RemoteContext> extraction, Injection injection, Consumer<Fields> removal) {
        this.extraction = extraction;
        this.injection = injection;
        this.removal = removal;
    }

    private interface Injection {
        void inject(Fields fields, Trace trace, long span);
    }

    /** Returns what a head says, null if that is nothing or not well-formed. */
    @Nullable
    RemoteContext extract(Fields fields) {
        return extraction.apply(fields);
    }

    /** Says it, instead of what a head has said. */
    void inject(Fields fields, Trace trace, long span) {
        injection.inject(fields, trace, span);
    }

    /** Takes out what a head says. */
    void remove(Fields fields) {
        removal.accept(fields);
    }
}
