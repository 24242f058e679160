package dev.gateway.exchange;

import dev.gateway.message.RequestHead;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.route.Route;
import dev.gateway.time.TimerWheel;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells operators, once a minute at most, that a request has taken the route of another reading of its path: otherwise
 * nothing says why a rule that matches does not serve it. Of one event loop.
 */
final class ReadingLog {
    private static final Logger log = LoggerFactory.getLogger(ReadingLog.class);
    private static final long TELL_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final int SHOWN = 64;

    private final TimerWheel clock;
    private boolean told;
    private long toldNanos;

    ReadingLog(TimerWheel clock) {
        this.clock = clock;
    }

    /**
     * A request takes a route.
     *
     * @param written the route of its path as it is written
     */
    void tell(RequestHead head, Route taken, Route written, ExchangeRecord record) {
        long now = clock.nanoTime();
        if (!told || now - toldNanos > TELL_NANOS) {
            told = true;
            toldNanos = now;
            log.info(
                    "listener {}: {} takes a request for {}, though {} matches the path as it is written. A server may"
                            + " decode it, or drop what follows a semicolon. It would then read a path that {} refuses or"
                            + " protects",
                    record.connection.listenerName(),
                    taken.name(),
                    head.path().subSequence(0, Math.min(SHOWN, head.queryStart())),
                    written.name(),
                    taken.name());
        }
    }
}
