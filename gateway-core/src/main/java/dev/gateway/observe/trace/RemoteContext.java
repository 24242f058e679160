package dev.gateway.observe.trace;

/**
 * What a request's head says of its trace.
 *
 * @param high the first half of the trace's id
 * @param low the second half; both are 0 if only a decision was told
 * @param span the caller's
 */
record RemoteContext(long high, long low, long span, Decision decision) {
    /** Whether the caller has its span recorded. */
    enum Decision {
        YES,
        NO,
        /** It leaves that to us. */
        OPEN
    }

    boolean hasIds() {
        return (high | low) != 0;
    }
}
