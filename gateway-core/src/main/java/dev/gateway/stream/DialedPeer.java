package dev.gateway.stream;

/**
 * The peer that was dialed for an upstream connection, in words for logs.
 *
 * @param dialed the address and port of the TCP socket, empty for a socket of another kind
 * @param parent the proxy that it is, empty for the endpoint itself
 */
public record DialedPeer(String dialed, String parent) {}
