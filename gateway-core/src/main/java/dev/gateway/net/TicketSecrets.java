package dev.gateway.net;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * What the keys of session tickets are made from: known to this process only, a new one each hour. The older ones are
 * kept for as long as tickets of theirs may come back, then forgotten, and with them what those tickets protect. Safe
 * from any thread.
 */
final class TicketSecrets {
    /** Those of all listeners, which survive a reload. */
    static final TicketSecrets OF_PROCESS = new TicketSecrets(System::nanoTime);

    static final int PERIOD_SECONDS = 60 * 60;

    /** So many that a ticket is taken for at least two periods. */
    private static final int KEPT = 3;

    private static final int LENGTH = 48;
    private static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(PERIOD_SECONDS);

    private final SecureRandom random = new SecureRandom();
    private final LongSupplier clock;
    private volatile Period current;

    /**
     * The secrets of one period.
     *
     * @param number counted from 0
     * @param secrets the newest first, by which tickets are made; the others are for those that come back
     */
    record Period(long number, long beganNanos, List<byte[]> secrets) {}

    TicketSecrets(LongSupplier clock) {
        this.clock = clock;
        this.current = new Period(0, clock.getAsLong(), List.of(fresh()));
    }

    private byte[] fresh() {
        byte[] secret = new byte[LENGTH];
        random.nextBytes(secret);
        return secret;
    }

    /** Returns the period of now. */
    Period current() {
        Period period = current;
        return clock.getAsLong() - period.beganNanos < PERIOD_NANOS ? period : next();
    }

    private synchronized Period next() {
        long passed = (clock.getAsLong() - current.beganNanos) / PERIOD_NANOS;
        if (passed > 0) { // else another thread was here first
            List<byte[]> secrets = new ArrayList<>();
            for (long i = 0; i < Math.min(passed, KEPT); i++) {
                secrets.add(fresh());
            }
            secrets.addAll(current.secrets);
            List<byte[]> kept = List.copyOf(secrets.subList(0, Math.min(secrets.size(), KEPT)));
            current = new Period(current.number + passed, current.beganNanos + passed * PERIOD_NANOS, kept);
        }
        return current;
    }
}
