package dev.gateway.stream;

/** Retry safety (idempotency): when a failed attempt may be made again on another connection. */
public enum RetrySafety {
    /** The peer may have acted on it, or a second attempt would fail alike. */
    NEVER,
    /** The peer may have acted on it, which does no harm for an idempotent method (RFC 9110, section 9.2.2). */
    IF_IDEMPOTENT,
    /** The peer has provably not acted on it: never sent, or refused before processing (RFC 9113, section 8.7). */
    ALWAYS
}
