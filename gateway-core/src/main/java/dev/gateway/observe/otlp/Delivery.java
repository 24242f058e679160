package dev.gateway.observe.otlp;

import dev.gateway.observe.ThrottledLog;
import io.opentelemetry.sdk.common.CompletableResultCode;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Has the SDK send something, waits for what becomes of it, and counts and tells what is lost. Used by one thread. */
final class Delivery {
    /** How long is waited, after what was being sent has been cut off, until it has counted what is lost. */
    static final long COUNT_MILLIS = 5_000;

    private static final Logger log = LoggerFactory.getLogger(Delivery.class);
    private static final long MARGIN_MILLIS = 1_000; // the exporter keeps to its own timeout; should it not, this does

    private final long timeoutMillis;
    private final AtomicLong lost;
    private final ThrottledLog complaints;

    /**
     * Makes it.
     *
     * @param what is sent, in the plural
     * @param lost counts it
     */
    Delivery(String what, Receiver receiver, AtomicLong lost) {
        this.timeoutMillis = receiver.timeoutMillis();
        this.lost = lost;
        this.complaints = new ThrottledLog(
                log, "Cannot send " + what + " to " + receiver.endpoint(), what + " can be sent again", lost);
    }

    /**
     * Sends something, and waits.
     *
     * @param count how much is lost if that fails
     * @return whether it was taken
     */
    boolean send(Supplier<CompletableResultCode> export, int count) {
        String problem;
        try {
            CompletableResultCode sent = export.get();
            if (sent.join(timeoutMillis + MARGIN_MILLIS, TimeUnit.MILLISECONDS).isSuccess()) {
                complaints.succeeded();
                return true;
            }
            problem = problem(sent);
        } catch (RuntimeException | LinkageError | OutOfMemoryError e) {
            // Whatever fails in the SDK, such as a thread that cannot start, the next delivery may succeed.
            problem = e.toString();
        }
        lost.addAndGet(count);
        complaints.failed(problem);
        return false;
    }

    private String problem(CompletableResultCode sent) {
        if (sent.isDone()) {
            return message(sent.getFailureThrowable());
        }
        return Thread.currentThread().isInterrupted()
                ? "no answer before the time for what was left was over"
                : "no answer in " + (timeoutMillis + MARGIN_MILLIS) + " ms";
    }

    /** Returns what the sender has said, which the exporter has wrapped. */
    static String message(@Nullable Throwable failure) {
        Throwable first = failure;
        while (first != null && first.getCause() != null) {
            first = first.getCause();
        }
        return first instanceof IOException ? String.valueOf(first.getMessage()) : String.valueOf(first);
    }
}
