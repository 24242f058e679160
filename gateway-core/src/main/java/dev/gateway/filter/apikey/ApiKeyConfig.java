package dev.gateway.filter.apikey;

import dev.gateway.config.filter.CredentialPlace;
import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.filter.ShownCredentials;
import dev.gateway.config.value.Position;
import java.nio.file.Path;

/**
 * Holders of keys that may use a route.
 *
 * @param name of the header field, query parameter or cookie
 * @param keysFile lines of a name, a colon and a key's SHA-256
 * @param forwardKey whether the upstream gets the key
 */
public record ApiKeyConfig(
        Position position, CredentialPlace place, String name, Path keysFile, String realm, boolean forwardKey)
        implements FilterConfig {
    @Override
    public String type() {
        return ApiKeyFeature.NAME;
    }

    @Override
    public ShownCredentials credentials() {
        return new ShownCredentials(place, name, !forwardKey);
    }

    @Override
    public boolean isRepeatable() {
        return false;
    }
}
