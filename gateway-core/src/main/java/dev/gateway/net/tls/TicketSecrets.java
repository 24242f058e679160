package dev.gateway.net.tls;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * What the keys of session tickets are made from: known to this process only, a new one each hour. The older ones are
 * kept for as long as tickets of theirs may come back, then forgotten, and with them what those tickets protect. Safe
 * from any thread.
 */
final class TicketSecrets {
    /** Those of all listeners whose tickets last equally long; they survive a reload. */
    private static final ConcurrentHashMap<Integer, TicketSecrets> BY_SECONDS = new ConcurrentHashMap<>();

    static final int PERIOD_SECONDS = 60 * 60;

    /** So many that a ticket is taken for at least two periods. */
    private static final int KEPT = 3;

    private static final int LENGTH = 48;

    private final SecureRandom random = new SecureRandom();
    private final LongSupplier clock;
    private final long periodNanos;
    private volatile Period current;

    /**
     * The secrets of one period.
     *
     * @param number counted from 0
     * @param secrets the newest first, by which tickets are made; the others are for those that come back
     */
    record Period(long number, long beganNanos, List<byte[]> secrets) {}

    TicketSecrets(LongSupplier clock) {
        this(clock, PERIOD_SECONDS);
    }

    private TicketSecrets(LongSupplier clock, int periodSeconds) {
        this.clock = clock;
        this.periodNanos = TimeUnit.SECONDS.toNanos(periodSeconds);
        this.current = new Period(0, clock.getAsLong(), List.of(fresh()));
    }

    /** Returns the secrets of tickets that are taken for so long at most, and for two thirds of it at least. */
    static TicketSecrets lasting(int seconds) {
        return BY_SECONDS.computeIfAbsent(
                seconds, key -> new TicketSecrets(System::nanoTime, Math.max(1, seconds / KEPT)));
    }

    private byte[] fresh() {
        byte[] secret = new byte[LENGTH];
        random.nextBytes(secret);
        return secret;
    }

    /** Returns the period of now. */
    Period current() {
        Period period = current;
        return clock.getAsLong() - period.beganNanos < periodNanos ? period : next();
    }

    private synchronized Period next() {
        long passed = (clock.getAsLong() - current.beganNanos) / periodNanos;
        if (passed > 0) { // else another thread was here first
            List<byte[]> secrets = new ArrayList<>();
            for (long i = 0; i < Math.min(passed, KEPT); i++) {
                secrets.add(fresh());
            }
            secrets.addAll(current.secrets);
            List<byte[]> kept = List.copyOf(secrets.subList(0, Math.min(secrets.size(), KEPT)));
            current = new Period(current.number + passed, current.beganNanos + passed * periodNanos, kept);
        }
        return current;
    }
}
