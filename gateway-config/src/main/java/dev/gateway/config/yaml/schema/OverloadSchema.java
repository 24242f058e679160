package dev.gateway.config.yaml.schema;

import dev.gateway.config.OverloadConfig;
import dev.gateway.config.yaml.type.Key;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import java.time.Duration;
import java.util.List;

/** When the gateway refuses new work, key by key. */
final class OverloadSchema {
    private static final double LEAST = 0.5;
    private static final double MOST = 0.9;
    private static final double DEFAULT = 0.85;

    static final ObjectType<OverloadConfig> OVERLOAD = ObjectType.of(
            "overload section",
            "When the gateway refuses new work because the process runs short; 0% means never.",
            o -> {
                var heap = o.defaulted(
                        "heap",
                        Types.SHARE,
                        DEFAULT,
                        OverloadConfig::heap,
                        "Part of the heap in use, after garbage collection, above which the gateway refuses new "
                                + "connections. It ends keep-alive 5 percentage points below, and refuses requests 7 above. From 50% to "
                                + "90%, or 0%.");
                var directMemory = o.defaulted(
                        "directMemory",
                        Types.SHARE,
                        DEFAULT,
                        OverloadConfig::directMemory,
                        "The same for direct memory.");
                var openFiles = o.defaulted(
                        "openFiles",
                        Types.SHARE,
                        DEFAULT,
                        OverloadConfig::openFiles,
                        "Part of the open files for clients in use near which the gateway ends keep-alive, 5 percentage "
                                + "points below. From 50% to 90%, or 0%.");
                var lag = o.defaulted(
                        "lag",
                        Types.DURATION,
                        Duration.ofSeconds(1),
                        OverloadConfig::lag,
                        "Lasting delay of an event loop above which the gateway refuses new connections. It refuses "
                                + "requests above twice the value.");
                var requests = o.defaulted(
                        "requestsInFlight",
                        Types.integer(0, 100_000_000),
                        0,
                        OverloadConfig::requestsInFlight,
                        "Maximum number of requests, tunnels and WebSockets in progress. Each event loop has an equal "
                                + "part. Without this limit, the heap that requests take limits them.");
                o.foreign("maxHeap memory", "heap");
                return v -> {
                    for (var key : List.of(heap, directMemory, openFiles)) {
                        check(v, key);
                    }
                    return new OverloadConfig(
                            v.position(),
                            v.get(heap),
                            v.get(directMemory),
                            v.get(openFiles),
                            v.get(lag),
                            v.get(requests));
                };
            });

    private OverloadSchema() {}

    private static void check(Values v, Key<OverloadConfig, Double> key) {
        if (!v.isReadable(key.name(), Types.SHARE)) {
            return;
        }
        double part = v.get(key);
        if (part != 0 && (part < LEAST || part > MOST)) {
            v.error(v.at(key.name()), key.name() + ": expected from 50% to 90%, or 0% for no limit");
        }
    }
}
