package dev.gateway.config.filter;

/** Where requests show a credential: a key, a token, or a name with its password. */
public enum CredentialPlace {
    HEADER,
    QUERY_PARAMETER,
    COOKIE
}
