package dev.gateway.admin;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Worker threads of the admin listener. One thread makes pages, another performs actions. So neither waits
 * for the other, and the gateway's own work waits for neither.
 * Few requests may wait for each; those that find no room are refused. A thread ends when there is nothing to do. Any
 * thread may use it.
 */
public final class AdminWork implements AutoCloseable {
    private static final int MAX_WAITING = 64;
    private static final long KEEP_SECONDS = 10;

    private final ThreadPoolExecutor pages = executor("admin-pages");
    private final ThreadPoolExecutor actions = executor("admin-actions");

    private static ThreadPoolExecutor executor(String name) {
        ThreadPoolExecutor executor = new ThreadPoolExecutor(
                1, 1, KEEP_SECONDS, TimeUnit.SECONDS, new ArrayBlockingQueue<>(MAX_WAITING), task -> {
                    Thread thread = new Thread(task, name);
                    thread.setDaemon(true);
                    return thread;
                });
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    /** Returns what makes pages; it may take long. */
    public Executor pages() {
        return pages;
    }

    /** Returns what does things, and never takes long unless a file does. */
    Executor actions() {
        return actions;
    }

    /** Has a value made; fails with {@link RejectedExecutionException} if too much waits already. */
    static <T> CompletableFuture<T> supply(Executor executor, Supplier<T> value) {
        try {
            return CompletableFuture.supplyAsync(value, executor);
        } catch (RejectedExecutionException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    @Override
    public void close() {
        pages.shutdown();
        actions.shutdown();
    }
}
