package dev.gateway.config;

import dev.gateway.config.value.Position;
import java.time.Duration;

/**
 * Load shedding settings: when the gateway refuses new work; 0 is never.
 *
 * @param heap the part of the heap in use above which new connections are refused
 * @param directMemory the same of direct memory
 * @param openFiles the part of the file descriptors for clients in use above which connections do not stay open
 * @param lag the delay of event loops above which new connections are refused
 * @param requestsInFlight how many exchanges there may be at once, divided among event loops
 */
public record OverloadConfig(
        Position position, double heap, double directMemory, double openFiles, Duration lag, int requestsInFlight) {
    /** What holds until a configuration says else. */
    public static final OverloadConfig DEFAULT =
            new OverloadConfig(Position.NOWHERE, 0.85, 0.85, 0.85, Duration.ofSeconds(1), 0);
}
