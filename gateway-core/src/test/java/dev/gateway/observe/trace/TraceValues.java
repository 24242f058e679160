package dev.gateway.observe.trace;

import dev.gateway.config.observe.TracingConfig;
import dev.gateway.config.observe.TracingConfig.Mode;
import dev.gateway.config.observe.TracingConfig.Propagator;
import dev.gateway.config.observe.TracingConfig.Trust;
import dev.gateway.config.value.Position;
import java.time.Duration;
import java.util.List;

/** Settings of traces that stand in no file. */
public final class TraceValues {
    private TraceValues() {}

    /** Makes settings that trust listeners' proxies. */
    public static TracingConfig of(boolean records, List<Propagator> propagators, boolean parentBased, double ratio) {
        return new TracingConfig(
                Position.NOWHERE,
                records ? Mode.EXPORT : Mode.PROPAGATE,
                propagators,
                Trust.TRUSTED_PROXIES,
                new TracingConfig.Sampler(Position.NOWHERE, parentBased, ratio),
                new TracingConfig.Export(Position.NOWHERE, Duration.ofSeconds(5), 2048, 512));
    }
}
