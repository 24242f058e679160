package dev.gateway.stream;

/**
 * What a connection to an upstream was made to, in words for logs.
 *
 * @param dialed the address and port of the socket, empty if it is none of TCP
 * @param parent the proxy that it is, empty for the endpoint itself
 */
public record DialedPeer(String dialed, String parent) {}
