package dev.gateway.stream;

/**
 * The peer that was dialed for an upstream connection.
 *
 * @param dialed the address and port of the TCP socket, empty for a socket of another kind
 * @param parent the proxy that it is, empty for the endpoint itself
 * @param own whether it is a listener of this gateway, to which requests may come back
 */
public record DialedPeer(String dialed, String parent, boolean own) {
    /** Makes a peer that is another program. */
    public DialedPeer(String dialed, String parent) {
        this(dialed, parent, false);
    }
}
