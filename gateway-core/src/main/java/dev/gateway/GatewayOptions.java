package dev.gateway;

import dev.gateway.runtime.ConfigFile;
import dev.gateway.runtime.process.ProcessEnvironment;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Start options: what a gateway has of the application that starts it. Immutable; each {@code with} method returns another.
 *
 * @param file read again when it changes or somebody asks; null if only the application reloads
 * @param environment what the gateway has of the process
 * @param registry gets the gateway's meters while the gateway runs; null for none
 * @param buckets whether a registry other than Prometheus' gets a counter for each bucket of a histogram
 */
public record GatewayOptions(
        @Nullable ConfigFile file, ProcessEnvironment environment, @Nullable MeterRegistry registry, boolean buckets) {
    /** No file, an environment that is shared with the application, no registry, no buckets. */
    public static GatewayOptions defaults() {
        return new GatewayOptions(null, ProcessEnvironment.shared(), null, false);
    }

    /** Returns options to read the configuration again from a file. The gateway closes it when it stops. */
    public GatewayOptions withFile(ConfigFile wanted) {
        return new GatewayOptions(wanted, environment, registry, buckets);
    }

    /** Returns options for some environment. */
    public GatewayOptions withEnvironment(ProcessEnvironment wanted) {
        return new GatewayOptions(file, wanted, registry, buckets);
    }

    /**
     * Returns options to give lines of the access log to the application, if the configuration names no other place for
     * them. Without this, they go to the SLF4J logger {@code dev.gateway.accesslog} at level info.
     *
     * @param lines gets each line without its end, on a thread of the log; it may block, and further lines are dropped then
     */
    public GatewayOptions withAccessLog(Consumer<String> lines) {
        return withEnvironment(environment.withAccessLog(lines));
    }

    /** Returns options to show the gateway's meters in the application's registry, which may be a composite. */
    public GatewayOptions withRegistry(MeterRegistry wanted) {
        return new GatewayOptions(file, environment, wanted, buckets);
    }

    /** Returns options to give a registry other than Prometheus' a counter for each bucket of a histogram. */
    public GatewayOptions withBuckets() {
        return new GatewayOptions(file, environment, registry, true);
    }
}
