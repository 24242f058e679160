package dev.gateway.listener;

import dev.gateway.overload.Throttle;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs why a listener accepts nothing for a while: at once, then once a minute, with a count. Safe from any thread. */
final class AcceptTrouble {
    private static final Logger log = LoggerFactory.getLogger(AcceptTrouble.class);

    private final Throttle failures;
    private final Throttle pauses;

    AcceptTrouble(LongSupplier clock) {
        failures = new Throttle(clock);
        pauses = new Throttle(clock);
    }

    /** A connection could not be accepted. */
    void onFailed(String listener, Throwable cause) {
        long count = failures.count();
        if (count > 0) {
            log.warn("listener {} could not accept a connection ({} so far): {}", listener, count, cause.toString());
        }
    }

    /** The listener accepts no connection until a client leaves. */
    void onFull(String listener, int max) {
        long count = pauses.count();
        if (count > 0) {
            log.warn(
                    "listener {} lets new clients wait ({} so far): all {} client connections that the limit"
                            + " of open files (ulimit -n) allows are in use",
                    listener,
                    count,
                    max);
        }
    }
}
