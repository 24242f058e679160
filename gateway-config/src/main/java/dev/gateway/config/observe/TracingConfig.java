package dev.gateway.config.observe;

import dev.gateway.config.value.Position;
import java.time.Duration;
import java.util.List;

/**
 * Tracing settings: what is done about traces.
 *
 * @param propagators what is understood, in order, and spoken; at least one
 * @param export counts only in that mode
 */
public record TracingConfig(
        Position position, Mode mode, List<Propagator> propagators, Trust trust, Sampler sampler, Export export) {

    public TracingConfig {
        propagators = List.copyOf(propagators);
    }

    /** Whether the gateway records spans of its own. */
    public boolean records() {
        return mode == Mode.EXPORT;
    }

    /** How much is done. */
    public enum Mode {
        /** What clients send passes. */
        OFF,
        /** Every request that is forwarded is part of a trace. */
        PROPAGATE,
        /** The same, and spans of those that are sampled are exported. */
        EXPORT
    }

    /** A way to write which trace a request is part of. */
    public enum Propagator {
        /** The W3C's {@code traceparent} and {@code tracestate}. */
        TRACE_CONTEXT,
        /** Zipkin's, in one header. */
        B3,
        /** Zipkin's, in several headers. */
        B3_MULTI
    }

    /** Whose word about traces counts. */
    public enum Trust {
        /** That of a listener's trusted proxies. */
        TRUSTED_PROXIES,
        ANYONE
    }

    /**
     * Which traces are sampled.
     *
     * @param parentBased whether the caller's decision counts, if there is one
     * @param ratio the share of all others, 0 to 1
     */
    public record Sampler(Position position, boolean parentBased, double ratio) {}

    /**
     * How spans are sent together to the receiver of {@link OtlpConfig}.
     *
     * @param maxQueueSize spans that may wait; those that find it full are dropped
     */
    public record Export(Position position, Duration scheduleDelay, int maxQueueSize, int maxExportBatchSize) {}
}
