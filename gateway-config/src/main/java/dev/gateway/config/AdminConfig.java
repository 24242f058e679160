package dev.gateway.config;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where health, metrics and statistics are served, in cleartext HTTP.
 *
 * @param enabled whether they are served at all
 * @param chosen whether somebody has chosen where; if not, the gateway runs without it where the default is taken
 * @param address an IPv4 or IPv6 literal without brackets, or a name
 * @param port 0 to 65535, 0 for any free one
 * @param unix a socket file instead of address and port, or null
 * @param tokenFile a bearer token that whoever wants more than health, metrics and statistics must send; null if none is
 *     needed, where only this machine can connect
 * @param hostnames in lower case: names by which other machines may ask
 * @param reusePort whether another process may bind the port too, which then gets what comes
 */
public record AdminConfig(
        Position position,
        boolean enabled,
        boolean chosen,
        String address,
        int port,
        @Nullable Path unix,
        @Nullable Path tokenFile,
        List<String> hostnames,
        boolean reusePort) {
    private static final String DEFAULT_ADDRESS = "127.0.0.1";
    private static final int DEFAULT_PORT = 9901;

    public AdminConfig {
        hostnames = List.copyOf(hostnames);
    }

    /** Returns what a gateway of its own process has where nothing is written. */
    static AdminConfig unchosen(Position position) {
        return new AdminConfig(position, true, false, DEFAULT_ADDRESS, DEFAULT_PORT, null, null, List.of(), false);
    }
}
