package dev.gateway.config.yaml.schema.observe;

import dev.gateway.config.observe.MetricsConfig;
import dev.gateway.config.observe.OtlpConfig;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Types;
import java.time.Duration;

/** Where telemetry goes and which metrics do, key by key; named as OpenTelemetry names it. */
public final class OtlpSchema {
    private static final Duration MIN_INTERVAL = Duration.ofSeconds(1);

    public static final ObjectType<OtlpConfig> OTLP =
            ObjectType.of("otlp section", "The OTLP receiver for spans and metrics.", o -> {
                var endpoint = o.defaulted(
                        "endpoint",
                        Types.url(
                                        // no '@', which credentials that anybody may read would come before; no '?' and
                                        // '#'
                                        "https?://[!-\"$->A-~]*[!-\"$-.0->A-~]",
                                        "a URL such as http://127.0.0.1:4318, without /v1/traces, '/' and query; credentials are for"
                                                + " headersFile")
                                .explained(text -> text.matches("[A-Za-z0-9.-]+:[0-9]+")
                                        ? ": did you mean 'http://" + text + "'?"
                                        : ""),
                        "http://localhost:4318",
                        OtlpConfig::endpoint,
                        "URL of the receiver, without /v1/traces and /v1/metrics.");
                var headersFile = o.optional(
                        "headersFile",
                        Types.PATH,
                        OtlpConfig::headersFile,
                        "File of lines 'name: value' that the gateway sends as headers, for credentials. It "
                                + "reads the file again when it changes.");
                var caFile = o.optional(
                        "caFile",
                        Types.PATH,
                        OtlpConfig::caFile,
                        "PEM file of the CA certificates for an HTTPS receiver, instead of the platform's. "
                                + "The gateway reads it again when it changes.");
                var serviceName = o.defaulted(
                        "serviceName",
                        Types.NAME,
                        "gateway",
                        OtlpConfig::serviceName,
                        "Service name (service.name) of spans and metrics.");
                var timeout = o.defaulted(
                        "timeout",
                        Types.DURATION,
                        Duration.ofSeconds(10),
                        OtlpConfig::timeout,
                        "Time for a request to the receiver.");
                o.single("endpoint");
                o.foreign("protocol", "the gateway sends OTLP over HTTP: remove it");
                o.foreign("url", "endpoint");
                return v -> {
                    if (v.get(endpoint).matches(".*/v1/(traces|metrics|logs)")) {
                        v.error(
                                v.at("endpoint"),
                                "endpoint: remove /v1/traces, /v1/metrics or /v1/logs: the gateway adds them");
                    }
                    if (v.has("caFile") && !v.get(endpoint).startsWith("https:")) {
                        v.warning(v.atKey("caFile"), "caFile has no effect on an endpoint without https");
                    }
                    return new OtlpConfig(
                            v.position(),
                            v.get(endpoint),
                            v.find(headersFile),
                            v.find(caFile),
                            v.get(serviceName),
                            v.get(timeout));
                };
            });

    private static final ObjectType<MetricsConfig.Export> EXPORT =
            ObjectType.of("export section of metrics", "How the gateway sends metrics to the receiver of otlp.", o -> {
                var interval = o.defaulted(
                        "interval",
                        Types.DURATION,
                        Duration.ofMinutes(1),
                        MetricsConfig.Export::interval,
                        "Time between two exports, at least 1s.");
                return v -> {
                    if (v.get(interval).compareTo(MIN_INTERVAL) < 0) {
                        v.error(v.at("interval"), "interval: expected 1s or more");
                    }
                    return new MetricsConfig.Export(v.position(), v.get(interval));
                };
            });

    public static final ObjectType<MetricsConfig> METRICS =
            ObjectType.of("metrics section", "What the gateway measures besides the usual, and push of metrics.", o -> {
                var filters = o.defaulted(
                        "filters",
                        Types.BOOLEAN,
                        false,
                        MetricsConfig::filters,
                        "Whether the gateway measures how long filters take, by their type: gateway_filter_duration_seconds.");
                var export = o.optional(
                        "export",
                        EXPORT,
                        MetricsConfig::export,
                        "Sends all metrics to the receiver of otlp at an interval. {} takes the defaults.");
                o.foreign(
                        "port path prometheus address",
                        "the admin listener serves /metrics: write admin: {port: …} for another port");
                return v -> new MetricsConfig(v.position(), v.get(filters), v.find(export));
            });

    private OtlpSchema() {}
}
