package dev.gateway.config;

/**
 * Where health, metrics and statistics are served, in cleartext HTTP.
 *
 * @param address an IPv4 or IPv6 literal without brackets, or a name
 * @param port 0 to 65535, 0 for any free one
 */
public record AdminConfig(Position position, String address, int port) {}
