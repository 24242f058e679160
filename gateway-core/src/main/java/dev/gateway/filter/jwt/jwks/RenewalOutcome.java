package dev.gateway.filter.jwt.jwks;

/** What became of the wish for keys that are newer than those which somebody has. */
public enum RenewalOutcome {
    /** There are others now. */
    CHANGED,
    /** There are no others: the server has none, or strangers had it asked too often. */
    SAME,
    /** The server fails, so nobody knows whether there are others. */
    FAILED,
    /** So many wait for them that there is no room. */
    TOO_MANY
}
