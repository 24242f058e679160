package dev.gateway.upstream;

/**
 * One address of an upstream. A host that is a name is resolved when a connection is made, by the pool.
 *
 * @param index its position in its upstream, or {@link NamedByRequest#INDEX}
 * @param host a name, an IPv4 or IPv6 literal without brackets, or {@code unix:/path} with port 0
 * @param port 1 to 65535, 0 for a Unix-domain socket
 * @param weight its share of requests relative to its siblings, at least 1
 */
public record Endpoint(int index, String host, int port, int weight) {
    /** Whether the other one is reached at the same place. */
    public boolean isSameAddress(Endpoint other) {
        return host.equals(other.host) && port == other.port;
    }

    /** Returns {@code host:port} as logs and {@code Proxy-Status} show it. */
    @Override
    public String toString() {
        return port == 0 ? host : host.indexOf(':') >= 0 ? "[" + host + "]:" + port : host + ":" + port;
    }
}
