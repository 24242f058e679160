package dev.gateway.upstream.discovery;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** First answers of servers that a new generation depends on, which comes into force with or without them. */
public final class FirstAnswers {
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(3);

    private FirstAnswers() {}

    /**
     * Waits until all have come, but not for long. Blocks.
     *
     * @param answers none of them fails
     * @param sinceNanos when they were asked for
     */
    public static void await(List<? extends CompletableFuture<?>> answers, long sinceNanos) {
        long left = PATIENCE_NANOS - (System.nanoTime() - sinceNanos);
        try {
            CompletableFuture.allOf(answers.toArray(CompletableFuture<?>[]::new))
                    .get(left, TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            // The generation does without those that are left.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the interrupting thread wants to stop
        } catch (ExecutionException e) {
            throw new IllegalStateException(e); // nothing makes them fail
        }
    }
}
