package dev.gateway.filter.plugin;

import dev.gateway.filter.FilterDefect;
import dev.gateway.filter.Verdict;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import io.netty.util.ReferenceCountUtil;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What becomes of an exception of a filter.
 *
 * @param type of the filter
 * @param source where the plugin is from, such as the name of its jar
 */
record Containment(String type, String source) {
    private static final Logger log = LoggerFactory.getLogger(Containment.class);

    /** Logs what the filter threw, and returns what ends the exchange. */
    FilterDefect defect(Throwable thrown) {
        if (thrown instanceof FilterDefect known) {
            return known;
        }
        return new FilterDefect(failure(thrown), thrown);
    }

    /** Logs what the filter threw, and returns what the exchange fails with. */
    Failure failure(Throwable thrown) {
        if (thrown instanceof OutOfMemoryError) {
            log.error("The filter {} of {} finds no memory: {}", type, source, thrown.toString()); // many may, at once
            return Failure.of(Cause.OVERLOAD, type + " finds no memory: " + thrown.getMessage());
        }
        log.error("The filter {} of {} failed", type, source, thrown);
        return Failure.of(
                Cause.FILTER_ERROR, type + " threw " + thrown.getClass().getName());
    }

    /** Returns what a method of the filter returns. What it throws ends the exchange. */
    <T> T call(Supplier<T> method) {
        try {
            return method.get();
        } catch (Throwable e) {
            throw defect(e);
        }
    }

    /** Returns what a method of the filter returns, which must not be null. What it throws ends the exchange. */
    <T> T required(Supplier<T> method) {
        return call(() -> Objects.requireNonNull(method.get(), "a method returned null"));
    }

    /** Calls a method of the filter. What it throws ends the exchange. */
    void act(Runnable method) {
        try {
            method.run();
        } catch (Throwable e) {
            throw defect(e);
        }
    }

    /** Runs what may throw an exception, which is only logged: nothing is left that could fail. */
    void run(Runnable action) {
        try {
            action.run();
        } catch (Throwable e) {
            defect(e);
        }
    }

    /** Returns why nobody can act on a verdict of the filter; null if somebody can. */
    static @Nullable String fault(@Nullable Verdict verdict) {
        if (verdict == null) {
            return "no verdict";
        }
        if (verdict instanceof Verdict.Refuse refusal) {
            return isNull(refusal.fields()) ? "a refusal without fields" : fault(refusal.failure());
        }
        if (!(verdict instanceof Verdict.Reply reply)) {
            return null;
        }
        if (isNull(reply.head()) || isNull(reply.body())) {
            return "a reply without a head or a body";
        }
        int status = reply.head().status();
        if (status < 200 || status > 599) {
            return "a reply with the status " + status;
        }
        return reply.refusal() == null || isWhole(reply.refusal())
                ? null
                : "a reply whose refusal has no cause or detail";
    }

    /** Returns why an exchange cannot fail with this failure; null if it can. */
    static @Nullable String fault(@Nullable Failure failure) {
        if (failure == null || !isWhole(failure)) {
            return "no failure, or one without a cause or detail";
        }
        int status = failure.status();
        return status < 400 || status > 599 ? "a failure with the status " + status : null;
    }

    /** Throws if an exchange cannot fail with this failure, which the filter has returned. */
    static void requireUsable(@Nullable Failure failure) {
        String fault = fault(failure);
        if (fault != null) {
            throw new IllegalStateException("returned " + fault);
        }
    }

    private static boolean isWhole(Failure failure) {
        return !isNull(failure.cause()) && !isNull(failure.retry()) && !isNull(failure.detail());
    }

    private static boolean isNull(@Nullable Object given) { // plugins may be compiled without a check for null
        return given == null;
    }

    /** Frees what a verdict of the filter has that nobody acts on. */
    void discard(@Nullable Verdict verdict) {
        if (verdict instanceof Verdict.Reply reply) {
            run(() -> ReferenceCountUtil.release(reply.body())); // a plugin may have given null
        } else if (verdict instanceof Verdict.Wait wait) {
            run(wait.cancel());
        }
    }
}
