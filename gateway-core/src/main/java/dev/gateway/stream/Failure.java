package dev.gateway.stream;

/**
 * Failure. Why a stream or an attempt failed: a value, never an exception.
 *
 * @param cause the one named reason
 * @param status what to answer where an answer is still possible; 499 is only ever logged
 * @param retry when another attempt may be made
 * @param stale whether it was a kept connection that turned out to be closed already
 * @param detail for people: what exactly happened, without secrets or line breaks
 * @param advice for the client: what to do instead, in words of the gateway's own; empty for none
 */
public record Failure(Cause cause, int status, RetrySafety retry, boolean stale, String detail, String advice) {
    /** Makes a failure without advice for the client. */
    public Failure(Cause cause, int status, RetrySafety retry, boolean stale, String detail) {
        this(cause, status, retry, stale, detail, "");
    }

    /** Makes a failure that must not be retried, with the cause's own status. */
    public static Failure of(Cause cause, String detail) {
        return new Failure(cause, cause.status(), RetrySafety.NEVER, false, detail);
    }

    /** Makes a failure of one attempt. */
    public static Failure of(Cause cause, RetrySafety retry, String detail) {
        return new Failure(cause, cause.status(), retry, false, detail);
    }

    /** Whether the upstream ended the stream, by a reset or with its connection. */
    public boolean isReset() {
        return cause == Cause.UPSTREAM_RESET_BEFORE_HEADERS || cause == Cause.UPSTREAM_RESET_IN_BODY;
    }

    /** Returns the same failure with advice for the client, which must need no escape in JSON or in a field. */
    public Failure advising(String words) {
        return new Failure(cause, status, retry, stale, detail, words);
    }

    /** Makes a failure with a more exact status than its cause's. */
    public static Failure of(Cause cause, int status, String detail) {
        return new Failure(cause, status, RetrySafety.NEVER, false, detail);
    }
}
