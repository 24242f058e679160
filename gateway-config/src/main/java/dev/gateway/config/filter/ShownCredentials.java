package dev.gateway.config.filter;

import org.jspecify.annotations.Nullable;

/**
 * Where a filter finds the credentials of a request.
 *
 * @param name of the header field, query parameter or cookie
 * @param removed whether the request continues without them
 */
public record ShownCredentials(CredentialPlace place, String name, boolean removed) {
    /** Whether they are in this place; names of header fields have no case. */
    public boolean isAt(CredentialPlace otherPlace, @Nullable String otherName) {
        return place == otherPlace
                && (place == CredentialPlace.HEADER ? name.equalsIgnoreCase(otherName) : name.equals(otherName));
    }
}
