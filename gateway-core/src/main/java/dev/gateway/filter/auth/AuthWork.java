package dev.gateway.filter.auth;

import dev.gateway.filter.SharedServices;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * Worker threads of authentication: they hash passwords and look after files, which would hold up an event loop. One for
 * the process. What comes when too much waits is rejected. Its threads end when there is nothing to do, so nobody has to
 * close it.
 */
public final class AuthWork {
    /** How many threads of the process hash passwords at the same time, and how many verify signatures. */
    public static final int THREADS = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);

    private static final int WAITING_PER_THREAD = 64;
    /** So that who tries passwords leaves room for others; who shows right ones, does not show many different ones. */
    private static final int HASHING_PER_CLIENT = 16;

    private static final int WAITING_FILES = 1024;
    private static final int IDLE_SECONDS = 10;

    private final Executor hashing; // each of its tasks takes the next one of the queue
    private final Executor files;
    private final HashingQueue queue = new HashingQueue();
    private final FailureCounts failures;
    private final Suspects suspects;
    private final Guesses guesses;
    private final KnownClients known = new KnownClients();
    private final Digests names = new Digests();
    private final ConcurrentHashMap<Object, Integer> hashingOf = new ConcurrentHashMap<>(); // by client

    /** Returns that of the process. */
    public static AuthWork of(SharedServices services) {
        return services.get(AuthWork.class, () -> new AuthWork(THREADS));
    }

    /** Makes it with so many threads for hashing. */
    public AuthWork(int threads) {
        hashing = threads("auth-hash-", threads, threads * WAITING_PER_THREAD);
        // Apart, so that password guessing does not keep a change of the files from being noticed.
        files = threads("auth-file-", 1, WAITING_FILES);
        failures = new FailureCounts(System::nanoTime);
        suspects = new Suspects(failures);
        guesses = new Guesses(System::nanoTime, (task, nanos) -> CompletableFuture.delayedExecutor(
                        nanos, TimeUnit.NANOSECONDS, Runnable::run)
                .execute(task));
    }

    /** Makes it for tests: clients that have to wait for a turn get none. */
    AuthWork(Executor hashing, Executor files, LongSupplier nanoClock) {
        this(hashing, files, nanoClock, (task, nanos) -> {});
    }

    AuthWork(Executor hashing, Executor files, LongSupplier nanoClock, Guesses.Delay delay) {
        this.hashing = hashing;
        this.files = files;
        this.failures = new FailureCounts(nanoClock);
        this.suspects = new Suspects(failures);
        this.guesses = new Guesses(nanoClock, delay);
    }

    /** Returns how often logins have failed. */
    FailureCounts failures() {
        return failures;
    }

    /**
     * A user of any file.
     *
     * @param name a digest, since a name may be long
     */
    private record User(Object accounts, Digest name) {}

    /** Returns for whom passwords count together, in all filters and generations. */
    Object user(Object accounts, byte[] name) {
        return new User(accounts, names.of(name));
    }

    /** Returns what limits how many passwords of one user are checked. */
    Guesses guesses() {
        return guesses;
    }

    /** Returns which clients have logged in before. */
    KnownClients known() {
        return known;
    }

    /** Whether a client, or a neighbor of it, has failed of late. */
    boolean suspects(Object client) {
        return suspects.has(client);
    }

    /**
     * Returns threads that end when there is nothing to do.
     *
     * @param name what theirs begin with
     * @param waiting how many tasks may wait; those that come then are rejected
     */
    public static Executor threads(String name, int threads, int waiting) {
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
     * Has a password hashed, in turn with those of other clients, and behind those whose logins have not failed of late.
     *
     * @param client whose it is
     * @return false if too many of this client's wait or are being hashed already
     * @throws RejectedExecutionException if too many wait in all
     */
    boolean hash(Object client, HashingTask task) {
        if (hashingOf.merge(client, 1, Integer::sum) > HASHING_PER_CLIENT) {
            hashed(client);
            return false;
        }
        boolean suspected = suspects.has(client);
        queue.add(client, suspected, new Counted(client, task));
        try {
            hashing.execute(this::next);
            return true;
        } catch (RejectedExecutionException e) {
            HashingTask evicted = suspected ? null : queue.evict();
            if (evicted != null) {
                evicted.evicted(); // its taker gets the new one
                return true;
            }
            queue.takeBack(client, suspected);
            hashed(client);
            throw e;
        }
    }

    private void next() {
        HashingTask task = queue.next();
        if (task != null) {
            task.run();
        }
    }

    /** Notes that a client has shown a wrong password. */
    void failed(Object client, Object user) {
        suspects.add(client);
        failures.add(user);
    }

    /** A task that counts for its client until it is over. */
    private final class Counted implements HashingTask {
        private final Object client;
        private final HashingTask task;

        Counted(Object client, HashingTask task) {
            this.client = client;
            this.task = task;
        }

        @Override
        public void run() {
            try {
                task.run();
            } finally {
                hashed(client);
            }
        }

        @Override
        public void evicted() {
            hashed(client);
            task.evicted();
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
