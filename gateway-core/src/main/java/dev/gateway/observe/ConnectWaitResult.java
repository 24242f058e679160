package dev.gateway.observe;

import java.util.Locale;

/** How the wait of a request for which no connection could be made has ended. */
public enum ConnectWaitResult {
    /** An endpoint could be reached in time. */
    SUCCESS,
    /** None could be, or the request ended sooner. */
    FAILURE,
    /** It did not begin: too many requests wait for the upstream already. */
    OVERFLOW;

    /** Returns the value of the metric's label. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
