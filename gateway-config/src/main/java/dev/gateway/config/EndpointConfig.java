package dev.gateway.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Endpoint (backend address): an entry of an upstream's endpoints, which is one address or the addresses of a name.
 *
 * @param host a name, or an IPv4 or IPv6 literal without brackets, for one endpoint; or null
 * @param dns a name each address of which is an endpoint, or null; exactly one of host, dns and unix is there
 * @param port 1 to 65535; 0 with {@code unix}
 * @param unix a Unix-domain socket instead of host and port, or null
 * @param weight its share of requests relative to its siblings, at least 1; all addresses of a name have it together
 * @param zone where it is, null if nobody has said so
 */
public record EndpointConfig(
        Position position,
        @Nullable String host,
        @Nullable String dns,
        int port,
        @Nullable Path unix,
        int weight,
        @Nullable String zone) {}
