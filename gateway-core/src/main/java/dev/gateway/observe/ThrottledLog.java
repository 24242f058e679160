package dev.gateway.observe;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;

/**
 * Throttled log. A log with throttling, of what goes wrong again and again: it tells the first time, then once a minute at
 * most, and when it goes well again. A full disk, or a receiver that is away, would else have a line for each batch. Used
 * by one thread.
 */
public final class ThrottledLog {
    private static final long MIN_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Logger log;
    private final String failing;
    private final String working;
    private final AtomicLong lost;
    private boolean isFailing;
    private long complainedNanos;

    /**
     * Makes it; nothing has gone wrong yet.
     *
     * @param failing what to say when something goes wrong
     * @param working what to say when it no longer does
     * @param lost how much has been lost so far, as others count it
     */
    public ThrottledLog(Logger log, String failing, String working, AtomicLong lost) {
        this.log = log;
        this.failing = failing;
        this.working = working;
        this.lost = lost;
    }

    /** Something has gone wrong, and what is lost has been counted. */
    public void failed(String reason) {
        long now = System.nanoTime();
        if (!isFailing || now - complainedNanos > MIN_NANOS) {
            isFailing = true;
            complainedNanos = now;
            log.warn("{} (lost so far: {}): {}", failing, lost.get(), reason);
        }
    }

    /** It has gone well. */
    public void succeeded() {
        if (isFailing) {
            isFailing = false;
            log.info("{}; lost so far: {}", working, lost.get());
        }
    }
}
