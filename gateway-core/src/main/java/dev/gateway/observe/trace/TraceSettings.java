package dev.gateway.observe.trace;

import java.util.List;

/**
 * Tracing settings at run time: what is done about traces. Immutable, shared by all event loops.
 *
 * @param records whether the gateway records spans of its own
 * @param propagators the ways that are understood, in order, and spoken; at least one
 * @param parentBased whether a caller's decision is ours
 * @param ratio the share of the traces for which that is decided here and that are sampled, 0 to 1
 */
public record TraceSettings(boolean records, List<Propagator> propagators, boolean parentBased, double ratio) {
    public TraceSettings {
        propagators = List.copyOf(propagators);
    }

    /** Decides as OpenTelemetry's ratio sampler does, so that all who use the same ratio decide alike. */
    boolean samples(long low) {
        return ratio >= 1 || (low & Long.MAX_VALUE) < (long) (ratio * Long.MAX_VALUE);
    }
}
