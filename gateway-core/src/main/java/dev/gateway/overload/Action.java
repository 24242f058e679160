package dev.gateway.overload;

import java.util.Locale;

/** What the gateway does when a resource is short, in the order of what it costs clients. */
public enum Action {
    /** Tells a client that its connection closes after the exchanges in progress. */
    END_KEEP_ALIVE,
    /** Closes an unused connection. */
    CLOSE_IDLE,
    /** Closes a new connection. */
    REFUSE_CONNECTION,
    /** Refuses a new request. */
    REFUSE_REQUEST,
    /** Ends an exchange or a stream that holds most. */
    CUT;

    /** Returns its name in statistics and metrics. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
