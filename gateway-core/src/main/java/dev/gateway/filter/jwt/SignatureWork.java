package dev.gateway.filter.jwt;

import dev.gateway.filter.SharedServices;
import dev.gateway.filter.auth.AuthWork;
import dev.gateway.filter.auth.FailureCounts;
import dev.gateway.filter.auth.HashingQueue;
import dev.gateway.filter.auth.HashingTask;
import dev.gateway.filter.auth.Suspects;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Tokens whose signatures wait to be verified, on threads for that. Clients take turns; those that have shown wrong tokens of
 * late come after all others, and make room for them. Safe from any thread, none of which it holds up.
 */
final class SignatureWork {
    /** A fraction of a second of work, with the usual algorithms. */
    static final int WAITING_PER_THREAD = 512;

    private final Executor threads; // each of its tasks takes the next one of the queue
    private final int most;
    private final HashingQueue queue = new HashingQueue(); // changed by who holds the lock
    private final Suspects suspects;
    private final Map<Object, Integer> waitingOf = new HashMap<>(); // by client
    private int waiting;

    /** What became of the wish to have a signature verified. */
    enum Outcome {
        /** It will be, or the task learns that it will not. */
        WAITS,
        /** So many of this client's wait already that there would be no room for others. */
        CLIENT_HAS_TOO_MANY,
        /** So many wait already that it would take too long. */
        TOO_MANY
    }

    /** Returns that of the process. */
    static SignatureWork of(SharedServices services) {
        return services.get(SignatureWork.class, () -> new SignatureWork(AuthWork.THREADS));
    }

    /** Makes it with so many threads of its own, since a signature takes a hundredth of the time of a password. */
    SignatureWork(int threads) {
        this(
                AuthWork.threads("auth-jwt-", threads, threads * WAITING_PER_THREAD),
                threads * WAITING_PER_THREAD,
                System::nanoTime);
    }

    /**
     * Makes it.
     *
     * @param threads must have room for as many tasks as may wait
     * @param most that may wait
     */
    SignatureWork(Executor threads, int most, LongSupplier nanoClock) {
        this.threads = threads;
        this.most = most;
        this.suspects = new Suspects(new FailureCounts(nanoClock));
    }

    /** Has a signature verified, in turn with those of other clients. */
    Outcome add(Object client, HashingTask task) {
        boolean suspected = suspects.has(client);
        HashingTask evicted = null;
        synchronized (this) {
            if (waitingOf.getOrDefault(client, 0) >= most / 2) {
                return Outcome.CLIENT_HAS_TOO_MANY;
            }
            if (waiting == most) {
                evicted = suspected ? null : evict();
                if (evicted == null) {
                    return Outcome.TOO_MANY;
                }
            }
            queue.add(client, suspected, new Waiting(client, task));
            waitingOf.merge(client, 1, Integer::sum);
            waiting++;
        }
        if (evicted != null) {
            evicted.evicted(); // the thread that was asked for it takes the new one
        } else {
            threads.execute(this::next);
        }
        return Outcome.WAITS;
    }

    /** Notes that a client has shown a wrong token. */
    void failed(Object client) {
        suspects.add(client);
    }

    private void next() {
        HashingTask task;
        synchronized (this) {
            task = taken(queue.next());
        }
        if (task != null) {
            task.run();
        }
    }

    private @Nullable HashingTask evict() {
        return taken(queue.evict());
    }

    private @Nullable HashingTask taken(@Nullable HashingTask entry) {
        if (!(entry instanceof Waiting taken)) {
            return null;
        }
        waiting--;
        waitingOf.computeIfPresent(taken.client, (same, count) -> count == 1 ? null : count - 1);
        return taken.task;
    }

    /** A task of a client. */
    private record Waiting(Object client, HashingTask task) implements HashingTask {
        @Override
        public void run() {
            task.run();
        }
    }
}
