package dev.gateway.config;

import dev.gateway.config.listener.BindConfig;
import dev.gateway.config.value.Position;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Admin listener settings: where health, metrics and statistics are served, in cleartext HTTP.
 *
 * @param enabled whether they are served at all
 * @param chosen whether somebody has chosen where; if not, the gateway runs without it where the default is taken
 * @param bind where; another process that binds the port too gets what comes from then on
 * @param tokenFile a bearer token that requests for more than health, metrics and statistics must have; null if none is
 *     needed, where only this machine can connect
 * @param hostnames in lower case: names by which other machines may ask
 */
public record AdminConfig(
        Position position,
        boolean enabled,
        boolean chosen,
        BindConfig bind,
        @Nullable Path tokenFile,
        List<String> hostnames) {
    private static final String DEFAULT_ADDRESS = "127.0.0.1";
    private static final int DEFAULT_PORT = 9901;

    public AdminConfig {
        hostnames = List.copyOf(hostnames);
    }

    /** Returns what a gateway of its own process has where nothing is written. */
    static AdminConfig unchosen(Position position) {
        BindConfig bind = new BindConfig(DEFAULT_ADDRESS, DEFAULT_PORT, null, false);
        return new AdminConfig(position, true, false, bind, null, List.of());
    }
}
