package dev.gateway.listener;

import dev.gateway.stream.ConnectionInfo.TlsInfo;
import org.jspecify.annotations.Nullable;

/**
 * Open connection: a client's connection at some moment, for those who look at it.
 *
 * @param number unique in the process; later ones have higher ones
 * @param protocol what is spoken, empty while that is not known
 * @param client the client's address and port, {@code unix} for a socket file
 * @param peer the same of the socket's other end, which may be a proxy that tells the client's by the PROXY protocol
 * @param tls null for cleartext, or before the handshake has ended
 * @param draining whether it ends as soon as what runs on it has
 * @param traffic what it has been used for so far
 */
public record OpenConnection(
        long number,
        String listener,
        String protocol,
        String client,
        String peer,
        @Nullable TlsInfo tls,
        boolean draining,
        Traffic traffic) {
    /**
     * What has moved on a connection.
     *
     * @param ageNanos since it was accepted
     * @param idleNanos since something has moved
     * @param receivedBytes on the socket, with all that TLS and framing add
     * @param sentBytes the same
     */
    public record Traffic(long ageNanos, long idleNanos, long receivedBytes, long sentBytes) {}
}
