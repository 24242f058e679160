package dev.gateway.testing;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Two threads that try the same thing at the same moment, round after round. */
public final class Race {
    /** Fewer are enough where many runs count more than one, as when tests are tested. */
    private static final int ROUNDS = Integer.getInteger("race.rounds", 20_000);

    private static final int MOST_SPINS = 64;

    private final BooleanSupplier first;
    private final BooleanSupplier second;
    private final AtomicInteger arrived = new AtomicInteger();
    private final AtomicInteger finished = new AtomicInteger();
    private final AtomicInteger winners = new AtomicInteger();
    private final AtomicReference<Throwable> thrown = new AtomicReference<>();

    private Race(BooleanSupplier first, BooleanSupplier second) {
        this.first = first;
        this.second = second;
    }

    /**
     * Lets both try, many times.
     *
     * @param first what one thread does; returns whether it won
     * @param second what the other does
     * @param giveBack undoes what one winner did, called once for each
     * @throws AssertionError unless exactly one wins each time
     */
    public static void assertOneWinner(BooleanSupplier first, BooleanSupplier second, Runnable giveBack)
            throws InterruptedException {
        new Race(first, second).run(giveBack);
    }

    private void run(Runnable giveBack) throws InterruptedException {
        Thread other = new Thread(() -> {
            for (int round = 1; round <= ROUNDS && thrown.get() == null; round++) {
                attempt(second, round, 0);
                await(finished, round);
            }
        });
        other.start();
        try {
            for (int round = 1; round <= ROUNDS; round++) {
                winners.set(0);
                attempt(first, round, round % MOST_SPINS);
                await(arrived, 4 * round);
                Throwable failure = thrown.get();
                if (failure != null) {
                    throw new AssertionError("in round " + round, failure);
                }
                int won = winners.get();
                if (won != 1) {
                    throw new AssertionError(won + " winners in round " + round);
                }
                giveBack.run();
                finished.set(round);
            }
        } finally {
            thrown.compareAndSet(null, new IllegalStateException("the race was stopped"));
            finished.set(ROUNDS);
            other.join();
        }
    }

    /** Each round has two appointments: before both try, and after. The delay lets either be ahead now and then. */
    private void attempt(BooleanSupplier what, int round, int spins) {
        arrived.incrementAndGet();
        await(arrived, 4 * round - 2);
        for (int i = 0; i < spins; i++) {
            Thread.onSpinWait();
        }
        try {
            if (what.getAsBoolean()) {
                winners.incrementAndGet();
            }
        } catch (RuntimeException | Error e) {
            thrown.compareAndSet(null, e);
        }
        arrived.incrementAndGet();
    }

    private static void await(AtomicInteger counter, int value) {
        for (int i = 1; counter.get() < value; i++) {
            if (i % 1_000 == 0) {
                LockSupport.parkNanos(1); // the other may want this core
            } else {
                Thread.onSpinWait();
            }
        }
    }
}
