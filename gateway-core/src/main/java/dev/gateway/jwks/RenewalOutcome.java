package dev.gateway.jwks;

/** What became of the wish for keys that are newer than those which somebody has. */
public enum RenewalOutcome {
    /** There are others now. */
    CHANGED,
    /** There are no others: the server has none, fails, or was asked only just now. */
    SAME,
    /** There are no keys at all, because the server fails. */
    NONE,
    /** So many wait for them that there is no room. */
    TOO_MANY
}
