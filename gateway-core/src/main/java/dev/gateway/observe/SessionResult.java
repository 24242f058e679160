package dev.gateway.observe;

import java.util.Locale;

/** How a response relates to the sticky session of its request. */
public enum SessionResult {
    /** The request had no valid session, and one has begun. */
    BEGUN,
    /** The endpoint of the session has answered. */
    KEPT,
    /** Another endpoint has answered, because that of the session could not. */
    MOVED;

    /** Returns the value of the metric's label. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
