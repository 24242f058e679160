package dev.gateway.exchange.request;

import dev.gateway.exchange.route.Route;
import dev.gateway.message.RequestHead;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.time.TimerWheel;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs, at most once a minute, that another reading of a request's path has selected its route. Otherwise an operator would
 * not see why the rule that matches the path as written does not serve the request. Confined to an event loop.
 */
public final class ReadingLog {
    private static final Logger log = LoggerFactory.getLogger(ReadingLog.class);
    private static final long TELL_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final int SHOWN = 64;

    private final TimerWheel clock;
    private boolean told;
    private long toldNanos;

    /** Makes the log of an event loop. */
    public ReadingLog(TimerWheel clock) {
        this.clock = clock;
    }

    /**
     * A request uses the route of another reading of its path.
     *
     * @param written the route of the path as written
     */
    public void tell(RequestHead head, Route taken, Route written, ExchangeRecord record) {
        long now = clock.nanoTime();
        if (!told || now - toldNanos > TELL_NANOS) {
            told = true;
            toldNanos = now;
            log.info(
                    "listener {}: {} takes a request for {}, though {} matches the path as it is written. A server may"
                            + " decode it, or drop what follows a semicolon, or a slash at its end. It would then read a"
                            + " path that {} refuses or protects",
                    record.connection.listenerName(),
                    taken.name(),
                    head.path().subSequence(0, Math.min(SHOWN, head.queryStart())),
                    written.name(),
                    taken.name());
        }
    }
}
