package dev.gateway.exchange;

import dev.gateway.observe.ExchangeRecord;

/**
 * A tunnel at some moment, for those who look at it.
 *
 * @param number unique on its event loop; later ones have higher ones
 * @param client the client's address, with its port if that is known; {@code unix} for a socket file
 * @param peer the same of the socket's other end, which may be a proxy
 * @param target host and port of a CONNECT, or host and path of what a WebSocket began as; no query
 * @param identity who the client has proven to be, empty if nobody asked
 * @param endpoint empty if it is not known
 */
public record OpenTunnel(
        long number,
        ExchangeRecord.Kind kind,
        String listener,
        String protocol,
        String client,
        String peer,
        String target,
        String identity,
        String route,
        String upstream,
        String endpoint,
        long ageNanos,
        long idleNanos,
        long receivedBytes,
        long sentBytes) {}
