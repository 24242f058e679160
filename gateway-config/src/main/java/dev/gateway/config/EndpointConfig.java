package dev.gateway.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Endpoint (backend address): one address of an upstream.
 *
 * @param host a name, or an IPv4 or IPv6 literal without brackets; null exactly with {@code unix}
 * @param port 1 to 65535; 0 with {@code unix}
 * @param unix a Unix-domain socket instead of host and port, or null
 * @param weight its share of requests relative to its siblings, at least 1
 */
public record EndpointConfig(Position position, @Nullable String host, int port, @Nullable Path unix, int weight) {}
