package dev.gateway.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Where health, metrics and statistics are served, in cleartext HTTP.
 *
 * @param address an IPv4 or IPv6 literal without brackets, or a name
 * @param port 0 to 65535, 0 for any free one
 * @param tokenFile a bearer token that whoever wants to change something must send; null if none is needed, where the
 *     address is one of this machine only
 * @param reusePort whether another process may bind the port too, which then gets what comes
 */
public record AdminConfig(Position position, String address, int port, @Nullable Path tokenFile, boolean reusePort) {}
