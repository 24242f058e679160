package dev.gateway.config;

import dev.gateway.config.value.Position;
import java.time.Duration;

/**
 * Graceful shutdown settings: how the gateway stops.
 *
 * @param timeout after which exchanges still in flight are ended; zero ends them at once
 * @param acceptFor how long new connections are still accepted while readiness already fails; part of timeout
 */
public record DrainConfig(Position position, Duration timeout, Duration acceptFor) {}
