package dev.gateway.otlp;

import io.opentelemetry.sdk.common.CompletableResultCode;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells when something cannot be sent, once a minute at most, and when it can again. Used by one thread. */
final class Complaints {
    private static final Logger log = LoggerFactory.getLogger(Complaints.class);
    private static final long MIN_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final String what;
    private final String endpoint;
    private final AtomicLong lost;
    private boolean failing;
    private long complainedNanos;

    /**
     * Makes it; nothing has failed yet.
     *
     * @param what is sent, in the plural
     * @param lost counts it
     */
    Complaints(String what, String endpoint, AtomicLong lost) {
        this.what = what;
        this.endpoint = endpoint;
        this.lost = lost;
    }

    /**
     * Waits for what was sent.
     *
     * @param count how much is lost if it fails
     * @return whether it was taken
     */
    boolean await(CompletableResultCode sent, long timeoutMillis, int count) {
        // The exporter keeps to its own timeout; should it not, this does.
        if (sent.join(timeoutMillis + 1_000, TimeUnit.MILLISECONDS).isSuccess()) {
            if (failing) {
                failing = false;
                log.info("{} can be sent again; lost so far: {}", what, lost.get());
            }
            return true;
        }
        failed(String.valueOf(sent.getFailureThrowable()), count);
        return false;
    }

    void failed(String reason, int count) {
        lost.addAndGet(count);
        long now = System.nanoTime();
        if (!failing || now - complainedNanos > MIN_NANOS) {
            failing = true;
            complainedNanos = now;
            log.warn("Cannot send {} to {} (lost so far: {}): {}", what, endpoint, lost.get(), reason);
        }
    }
}
