package dev.gateway.exchange.tunnel;

import dev.gateway.observe.ExchangeRecord;

/**
 * The state of a tunnel at some moment, as the admin listener shows it.
 *
 * @param number unique on its event loop; later tunnels have higher numbers
 */
public record OpenTunnel(
        long number, ExchangeRecord.Kind kind, Client client, Destination destination, Traffic traffic) {
    /**
     * The client of the tunnel.
     *
     * @param protocol the protocol of the client's connection
     * @param address the client's address, with its port if known; {@code unix} for a Unix-domain socket
     * @param peer the address of the socket's other end, which may be a proxy
     * @param identity the authenticated user, empty without authentication
     */
    public record Client(String listener, String protocol, String address, String peer, String identity) {}

    /**
     * The destination of the tunnel.
     *
     * @param target host and port of a CONNECT, or host and path of a WebSocket's request, without the query
     * @param endpoint the endpoint, empty if it is not known
     */
    public record Destination(String target, String route, String upstream, String endpoint) {}

    /** Its age and its bytes. */
    public record Traffic(long ageNanos, long idleNanos, long receivedBytes, long sentBytes) {}
}
