package dev.gateway.stream;

/**
 * The peer that was dialed for an upstream connection, in words for logs.
 *
 * @param dialed the address and port of the socket, empty if it is none of TCP
 * @param parent the proxy that it is, empty for the endpoint itself
 */
public record DialedPeer(String dialed, String parent) {}
