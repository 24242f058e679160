package dev.gateway.overload;

import java.util.Locale;

/** Something done because a resource is short; what costs clients least comes first. */
public enum Action {
    /** A client was told that its connection closes after what runs on it. */
    END_KEEP_ALIVE,
    /** A connection that was not in use was closed. */
    CLOSE_IDLE,
    /** A new connection was closed. */
    REFUSE_CONNECTION,
    /** A new request was refused. */
    REFUSE_REQUEST,
    /** An exchange or a stream was ended that cost most. */
    CUT;

    /** Returns its word in statistics and metrics. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
