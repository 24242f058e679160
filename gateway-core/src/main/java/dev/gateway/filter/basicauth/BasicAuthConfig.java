package dev.gateway.filter.basicauth;

import dev.gateway.config.filter.CredentialPlace;
import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.filter.ShownCredentials;
import dev.gateway.config.value.Position;
import java.nio.file.Path;

/**
 * Users that may use a route, by name and password.
 *
 * @param usersFile lines as htpasswd writes them
 * @param forwardAuthorization whether the upstream gets the credentials
 */
public record BasicAuthConfig(Position position, String realm, Path usersFile, boolean forwardAuthorization)
        implements FilterConfig {
    @Override
    public String type() {
        return BasicAuthFeature.NAME;
    }

    @Override
    public ShownCredentials credentials() {
        return new ShownCredentials(CredentialPlace.HEADER, "Authorization", !forwardAuthorization);
    }

    @Override
    public boolean isRepeatable() {
        return false;
    }
}
