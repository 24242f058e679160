package dev.gateway.observe.trace;

import dev.gateway.config.observe.TracingConfig;
import dev.gateway.config.observe.TracingConfig.Propagator;
import dev.gateway.message.Fields;
import dev.gateway.observe.trace.RemoteContext.Decision;
import org.jspecify.annotations.Nullable;

/** Trace sampling: gives the exchanges of one event loop their places in traces. */
public final class Traces {
    private final KeyStream random = new KeyStream();

    /**
     * Finds or begins the trace of a request.
     *
     * @param fields of its head, as the client sent them; null if there are none
     * @param trusted whether what they say counts
     */
    public Trace begin(@Nullable Fields fields, boolean trusted, TracingConfig settings) {
        Propagator spoken = null;
        RemoteContext remote = null;
        for (int i = 0;
                remote == null
                        && trusted
                        && fields != null
                        && i < settings.propagators().size();
                i++) {
            remote = Propagation.extract(settings.propagators().get(i), fields);
            spoken = remote == null ? null : settings.propagators().get(i);
        }
        RemoteContext context = remote != null && remote.hasIds()
                ? remote
                : new RemoteContext(random.nextLong(), id(), 0, Decision.OPEN);
        boolean known = context.span() != 0;
        Decision decision = remote == null ? Decision.OPEN : remote.decision();
        boolean follows = decision != Decision.OPEN && (settings.sampler().parentBased() || !settings.records());
        boolean sampled =
                follows ? decision == Decision.YES : samples(settings.sampler().ratio(), context.low());
        boolean recorded = sampled && settings.records();
        boolean forwarded =
                known && follows && !recorded && settings.propagators().size() == 1;
        Trace trace = Trace.of(
                context,
                known && !recorded ? context.span() : id(),
                new Trace.Flags(sampled, recorded, forwarded, spoken));
        if (recorded && fields != null && spoken == Propagator.TRACE_CONTEXT) {
            trace.state(TraceParent.state(fields));
        }
        return trace;
    }

    /** Decides as OpenTelemetry's ratio sampler does, so that all who use the same ratio decide alike. */
    private static boolean samples(double ratio, long low) {
        return ratio >= 1 || (low & Long.MAX_VALUE) < (long) (ratio * Long.MAX_VALUE);
    }

    private long id() {
        long id = random.nextLong();
        return id != 0 ? id : 1;
    }

    /** Lets a head that is forwarded say which trace it is part of, and nothing else of the kind. */
    public void forward(Fields fields, Trace trace, TracingConfig settings) {
        if (!trace.isForwarded()) {
            for (Propagator propagator : settings.propagators()) {
                if (propagator != trace.spoken()) {
                    Propagation.remove(propagator, fields); // also what is no part of the context, such as a state
                }
                Propagation.inject(propagator, fields, trace, trace.span());
            }
        }
    }

    /**
     * Begins the span of an attempt, of an exchange that is recorded.
     *
     * @param fields of the head that is sent, null if it does not go upstream
     */
    public void attempt(@Nullable Fields fields, Trace trace, TracingConfig settings) {
        trace.attempt(id());
        if (fields != null) {
            for (Propagator propagator : settings.propagators()) {
                Propagation.inject(propagator, fields, trace, trace.attempt());
            }
        }
    }
}
