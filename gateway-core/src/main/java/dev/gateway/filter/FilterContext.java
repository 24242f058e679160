package dev.gateway.filter;

import dev.gateway.stream.ConnectionInfo;

/** What a filter may know of the exchange, and how it answers late. Valid on the exchange's event loop only. */
public interface FilterContext {
    /** Returns the downstream connection. */
    ConnectionInfo connection();

    /** Returns how much of the path the route's PathPrefix match covered, in bytes; 0 for other matches. */
    int matchedPrefixLength();

    /** Goes on after {@link Verdict.Wait}, with the verdict that was waited for; once. */
    void resume(Verdict verdict);
}
