package dev.gateway.exchange;

import dev.gateway.observe.ExchangeRecord;

/**
 * A tunnel at some moment, for those who look at it.
 *
 * @param number unique on its event loop; later ones have higher ones
 */
public record OpenTunnel(
        long number, ExchangeRecord.Kind kind, Client client, Destination destination, Traffic traffic) {
    /**
     * Who has opened it.
     *
     * @param protocol that the client speaks
     * @param address the client's, with its port if that is known; {@code unix} for a socket file
     * @param peer the same of the socket's other end, which may be a proxy
     * @param identity who the client has proven to be, empty if nobody asked
     */
    public record Client(String listener, String protocol, String address, String peer, String identity) {}

    /**
     * Where it leads.
     *
     * @param target host and port of a CONNECT, or host and path of what a WebSocket began as; no query
     * @param endpoint empty if it is not known
     */
    public record Destination(String target, String route, String upstream, String endpoint) {}

    /** What it has carried, and when. */
    public record Traffic(long ageNanos, long idleNanos, long receivedBytes, long sentBytes) {}
}
