package dev.gateway.protocol.tcp;

/**
 * TCP listener settings: how connections are taken whose bytes are passed on.
 *
 * @param tls whether a connection must begin with a TLS ClientHello, which is read to see where it is to go
 * @param helloMillis how long the ClientHello may take, 0 for no limit
 */
public record TcpServerSettings(boolean tls, long helloMillis) {}
