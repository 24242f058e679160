package dev.gateway.config.yaml.schema.observe;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.file.HeadersFile;
import dev.gateway.config.observe.OtlpConfig;
import dev.gateway.config.observe.TracingConfig;
import dev.gateway.config.yaml.type.Scope;
import java.io.IOException;
import java.nio.file.Path;

/** What the receiver of telemetry needs is there, and somebody sends it something. */
public final class OtlpChecks {
    private OtlpChecks() {}

    /** Adds what is wrong with the exports of spans and metrics to the problems of the scope. */
    public static void run(GatewayConfig config, Scope scope) {
        OtlpConfig otlp = config.otlp();
        if (scope.wrote(config, "otlp") && !exports(config)) {
            scope.problems.warning(
                    scope.at(config, "otlp"), "otlp has no effect without metrics.export or tracing with mode: export");
        }
        Path file = otlp.headersFile();
        if (file != null && scope.wrote(otlp, "headersFile")) {
            try {
                HeadersFile.read(file);
            } catch (IOException e) {
                scope.problems.error(scope.at(otlp, "headersFile"), "headersFile: " + e.getMessage());
            }
        }
    }

    /** Whether anything is exported. */
    public static boolean exports(GatewayConfig config) {
        return config.tracing().mode() == TracingConfig.Mode.EXPORT
                || config.metrics().export() != null;
    }
}
