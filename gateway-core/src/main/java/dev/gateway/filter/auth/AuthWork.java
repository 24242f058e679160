package dev.gateway.filter.auth;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Where what would hold up an event loop is done: hashing passwords, and looking after files. One for the process. What
 * comes when too much waits is rejected. Its threads end when there is nothing to do, so nobody has to close it.
 */
public final class AuthWork {
    private static final int WAITING_PER_THREAD = 64;
    /** So that who tries passwords leaves room for others; who shows right ones, does not show many different ones. */
    private static final int HASHING_PER_CLIENT = 16;

    private static final int WAITING_FILES = 1024;
    private static final int IDLE_SECONDS = 10;

    private final Executor hashing;
    private final Executor files;
    private final ConcurrentHashMap<Object, Integer> hashingOf = new ConcurrentHashMap<>(); // by client

    /** Makes it with as many threads for hashing; they never keep more processors busy than that. */
    public AuthWork(int threads) {
        hashing = pool("auth-hash-", threads, threads * WAITING_PER_THREAD);
        // Apart, so that whoever tries passwords does not keep a change of the files from being noticed.
        files = pool("auth-file-", 1, WAITING_FILES);
    }

    AuthWork(Executor hashing, Executor files) {
        this.hashing = hashing;
        this.files = files;
    }

    private static Executor pool(String name, int threads, int waiting) {
        AtomicInteger count = new AtomicInteger();
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                threads, threads, IDLE_SECONDS, TimeUnit.SECONDS, new ArrayBlockingQueue<>(waiting), task -> {
                    Thread thread = new Thread(task, name + count.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    /**
     * Has a password hashed.
     *
     * @param client whose it is
     * @return false if too many of this client's wait or are being hashed already
     * @throws RejectedExecutionException if too many wait in all
     */
    boolean hash(Object client, Runnable task) {
        if (hashingOf.merge(client, 1, Integer::sum) > HASHING_PER_CLIENT) {
            hashed(client);
            return false;
        }
        try {
            hashing.execute(() -> {
                try {
                    task.run();
                } finally {
                    hashed(client);
                }
            });
            return true;
        } catch (RejectedExecutionException e) {
            hashed(client);
            throw e;
        }
    }

    private void hashed(Object client) {
        hashingOf.computeIfPresent(client, (same, count) -> count == 1 ? null : count - 1);
    }

    /** Returns what asks the system for short answers: files, interfaces. */
    public Executor files() {
        return files;
    }
}
