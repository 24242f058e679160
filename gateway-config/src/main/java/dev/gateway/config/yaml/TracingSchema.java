package dev.gateway.config.yaml;

import static java.util.Map.entry;

import dev.gateway.config.TracingConfig;
import dev.gateway.config.TracingConfig.Mode;
import dev.gateway.config.TracingConfig.Propagator;
import dev.gateway.config.TracingConfig.Sampler;
import dev.gateway.config.TracingConfig.Trust;
import java.util.List;

/** What traces are, key by key; named as OpenTelemetry names them. */
final class TracingSchema {
    private static final ObjectType<Sampler> SAMPLER =
            ObjectType.of("sampler section", "Which traces are sampled.", o -> {
                var parentBased = o.defaulted(
                        "parentBased",
                        Types.BOOLEAN,
                        true,
                        Sampler::parentBased,
                        "Whether the decision of a caller that is believed counts.");
                var ratio = o.defaulted(
                        "ratio",
                        Types.FRACTION,
                        1.0,
                        Sampler::ratio,
                        "The share of all others, 0 to 1, by their trace id.");
                return v -> new Sampler(v.position(), v.get(parentBased), v.get(ratio));
            });

    static final ObjectType<TracingConfig> TRACING =
            ObjectType.of("tracing section", "Which trace each request is part of.", o -> {
                var mode = o.defaulted(
                        "mode",
                        Types.words(entry("off", Mode.OFF), entry("propagate", Mode.PROPAGATE)),
                        Mode.OFF,
                        TracingConfig::mode,
                        "off lets pass what clients send; propagate makes each request part of a trace.");
                var propagators = o.defaulted(
                        "propagators",
                        new ListType<>(
                                Types.words(
                                        entry("tracecontext", Propagator.TRACE_CONTEXT),
                                        entry("b3", Propagator.B3),
                                        entry("b3multi", Propagator.B3_MULTI)),
                                1),
                        List.of(Propagator.TRACE_CONTEXT),
                        TracingConfig::propagators,
                        "The headers that are understood, in order, and sent: tracecontext (W3C), b3, b3multi (Zipkin).");
                var trust = o.defaulted(
                        "trust",
                        Types.words(entry("trustedProxies", Trust.TRUSTED_PROXIES), entry("anyone", Trust.ANYONE)),
                        Trust.TRUSTED_PROXIES,
                        TracingConfig::trust,
                        "Whose word about traces is believed; what others send is replaced.");
                var sampler = o.section("sampler", SAMPLER, TracingConfig::sampler, "Which traces are sampled.");
                return v -> new TracingConfig(
                        v.position(), v.get(mode), v.get(propagators), v.get(trust), v.get(sampler), null);
            });

    private TracingSchema() {}
}
