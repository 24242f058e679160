package dev.gateway.connect;

/** SNI mismatch action: what becomes of a tunnel whose TLS client asks for another host (SNI) than its CONNECT did. */
public enum SniMode {
    /** Nobody looks. */
    OFF,
    /** It is logged. */
    LOG,
    /** It is refused, and so is what is not TLS. */
    MUST_MATCH
}
