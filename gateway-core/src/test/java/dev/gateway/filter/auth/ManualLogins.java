package dev.gateway.filter.auth;

import dev.gateway.overload.memory.CacheMemory;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Queue;

/** Logins with a clock of their own, whose hashing and waiting a test does itself. */
public final class ManualLogins {
    /** How many wrong passwords a client may show in a minute. */
    public static final int FAILURES_OF_A_CLIENT = FailureCounts.MOST_PER_MINUTE;

    /** How many guesses at a user are checked at once. */
    public static final int GUESSES_AT_A_USER = Guesses.BURST;

    /** After how many nanoseconds one more is checked. */
    public static final long NANOS_OF_A_GUESS = Guesses.INTERVAL_NANOS;

    public final Queue<Runnable> hashing = new ArrayDeque<>();
    public final Queue<Runnable> delayed = new ArrayDeque<>();
    public long nanos;

    private final AuthWork work =
            new AuthWork(hashing::add, Runnable::run, () -> nanos, (task, delay) -> delayed.add(task));

    /** Opens a file of users. */
    public UserAccounts open(Path usersFile) throws AuthFileException {
        return new UserAccounts(usersFile, work, CacheMemory.UNLIMITED, () -> nanos);
    }

    /** Hashes what waits for it. */
    public void hash() {
        for (Runnable task = hashing.poll(); task != null; task = hashing.poll()) {
            task.run();
        }
    }
}
