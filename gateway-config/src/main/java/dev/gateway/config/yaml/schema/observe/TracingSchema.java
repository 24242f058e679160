package dev.gateway.config.yaml.schema.observe;

import static java.util.Map.entry;

import dev.gateway.config.observe.TracingConfig;
import dev.gateway.config.observe.TracingConfig.Export;
import dev.gateway.config.observe.TracingConfig.Mode;
import dev.gateway.config.observe.TracingConfig.Propagator;
import dev.gateway.config.observe.TracingConfig.Sampler;
import dev.gateway.config.observe.TracingConfig.Trust;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Types;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** What traces are, key by key; named as OpenTelemetry names them. */
public final class TracingSchema {
    private static final ObjectType<Sampler> SAMPLER =
            ObjectType.of("sampler section", "Which traces are sampled.", o -> {
                var parentBased = o.defaulted(
                        "parentBased",
                        Types.BOOLEAN,
                        true,
                        Sampler::parentBased,
                        "Whether the sampling decision of a trusted caller counts.");
                var ratio = o.defaulted(
                        "ratio",
                        Types.FRACTION,
                        1.0,
                        Sampler::ratio,
                        "Share of all other traces to sample, selected by trace ID.");
                o.single("ratio");
                return v -> new Sampler(v.position(), v.get(parentBased), v.get(ratio));
            });

    private static final ObjectType<Export> EXPORT =
            ObjectType.of("export section of tracing", "How the gateway sends spans to the receiver of otlp.", o -> {
                var delay = o.defaulted(
                        "scheduleDelay",
                        Types.DURATION,
                        Duration.ofSeconds(5),
                        Export::scheduleDelay,
                        "How long a span may wait for others to fill a batch.");
                var queue = o.defaulted(
                        "maxQueueSize",
                        Types.integer(1, 1_000_000),
                        2048,
                        Export::maxQueueSize,
                        "Maximum number of waiting spans. The gateway drops and counts further ones.");
                var batch = o.defaulted(
                        "maxExportBatchSize",
                        Types.integer(1, 100_000),
                        512,
                        Export::maxExportBatchSize,
                        "Maximum number of spans in a batch.");
                return v -> new Export(v.position(), v.get(delay), v.get(queue), v.get(batch));
            });

    public static final ObjectType<TracingConfig> TRACING =
            ObjectType.of("tracing section", "Distributed tracing.", o -> {
                var mode = o.defaulted(
                        "mode",
                        Types.words(
                                entry("off", Mode.OFF),
                                entry("propagate", Mode.PROPAGATE),
                                entry("export", Mode.EXPORT)),
                        Mode.OFF,
                        TracingConfig::mode,
                        "off forwards the trace headers of trusted peers. propagate also makes each request "
                                + "part of a trace. export also sends spans of sampled traces.");
                var propagators = o.defaulted(
                        "propagators",
                        new ListType<>(
                                Types.words(
                                        Types.ordered(
                                                entry("tracecontext", Propagator.TRACE_CONTEXT),
                                                entry("b3", Propagator.B3),
                                                entry("b3multi", Propagator.B3_MULTI)),
                                        Map.of(),
                                        Map.of("w3c", "tracecontext", "traceparent", "tracecontext")),
                                1),
                        List.of(Propagator.TRACE_CONTEXT),
                        TracingConfig::propagators,
                        "Trace headers that the gateway reads, in order, and sends: tracecontext (W3C), b3 or "
                                + "b3multi (Zipkin).");
                var trust = o.defaulted(
                        "trust",
                        Types.words(entry("trustedProxies", Trust.TRUSTED_PROXIES), entry("anyone", Trust.ANYONE)),
                        Trust.TRUSTED_PROXIES,
                        TracingConfig::trust,
                        "Whose trace headers the gateway believes. It removes those of others.");
                var sampler = o.section("sampler", SAMPLER, TracingConfig::sampler, "Which traces are sampled.");
                var export = o.section(
                        "export",
                        EXPORT,
                        tracing -> tracing.mode() == Mode.EXPORT ? tracing.export() : null,
                        "How the gateway sends spans. Only with mode export.");
                o.foreign(
                        "jaeger zipkin otlp endpoint",
                        "write mode: export, and the receiver of OTLP in otlp: {endpoint: …}");
                o.foreign("sampling sampleRate ratio", "write sampler: {ratio: …}");
                o.foreign("enabled", "mode");
                return v -> {
                    if (v.has("export") && v.get(mode) != Mode.EXPORT) {
                        v.warning(v.atKey("export"), "export has no effect without mode: export");
                    }
                    return new TracingConfig(
                            v.position(), v.get(mode), v.get(propagators), v.get(trust), v.get(sampler), v.get(export));
                };
            });

    private TracingSchema() {}
}
