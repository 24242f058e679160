package dev.gateway.listener;

import dev.gateway.stream.ConnectionInfo.TlsInfo;
import org.jspecify.annotations.Nullable;

/**
 * The state of a client's connection at some moment, as the admin listener shows it.
 *
 * @param number unique in the process; later connections have higher numbers
 * @param protocol its protocol, empty if it is not known yet
 * @param client the client's address and port, {@code unix} for a Unix-domain socket
 * @param peer the address and port of the socket's other end, which may be a proxy that sends the PROXY protocol
 * @param tls null for cleartext, or before the handshake has ended
 * @param draining whether it closes as soon as its exchanges have ended
 * @param traffic its age and bytes so far
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
     * The age and bytes of a connection.
     *
     * @param ageNanos time since it was accepted
     * @param idleNanos time since the last byte
     * @param receivedBytes bytes on the socket, including TLS and framing
     * @param sentBytes the same
     */
    public record Traffic(long ageNanos, long idleNanos, long receivedBytes, long sentBytes) {}
}
