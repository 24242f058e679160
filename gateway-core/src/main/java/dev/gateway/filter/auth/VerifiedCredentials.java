package dev.gateway.filter.auth;

import dev.gateway.overload.memory.CacheMemory;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Remembers what became of credentials, so that not every request pays for a slow hash or a signature: by a digest under a
 * key that only this process has, for a while, within bounds, and only as long as what they were checked against is the same.
 * What there is no {@link CacheMemory} for is not remembered. Safe from any thread.
 *
 * @param <T> what is remembered, such as whose credentials they are
 */
public final class VerifiedCredentials<T> {
    /** What a remembered result takes besides its texts, by and large. */
    public static final int BYTES = 256;

    private static final int MOST = 10_000;
    private static final long KEPT_NANOS = TimeUnit.MINUTES.toNanos(5); // since their last use
    private static final long MOST_NANOS = TimeUnit.HOURS.toNanos(1); // in all
    private static final long RENEWED_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final int most;
    private final long mostBytes;
    private final AtomicLong bytes = new AtomicLong();
    private final LongSupplier nanoClock;
    private final ConcurrentHashMap<Digest, Entry<T>> entries = new ConcurrentHashMap<>();
    private final Digests digests = new Digests();
    private final CacheMemory memory;
    private volatile boolean ended;

    private record Entry<T>(T result, int bytes, Object basis, long addedNanos, long usedNanos) {}

    VerifiedCredentials(LongSupplier nanoClock, CacheMemory memory) {
        this(nanoClock, memory, MOST);
    }

    /** Makes it, for results of which only the number matters. */
    public VerifiedCredentials(LongSupplier nanoClock, CacheMemory memory, int most) {
        this(nanoClock, memory, most, Long.MAX_VALUE);
    }

    /**
     * Makes it.
     *
     * @param memory is charged for what it remembers
     * @param most how many it remembers
     * @param mostBytes how large all of them are together
     */
    public VerifiedCredentials(LongSupplier nanoClock, CacheMemory memory, int most, long mostBytes) {
        this.nanoClock = nanoClock;
        this.memory = memory;
        this.most = most;
        this.mostBytes = mostBytes;
    }

    /** Returns what credentials are remembered by. */
    public Digest digest(byte[] secret) {
        return digests.of(secret);
    }

    /**
     * Returns what became of these credentials if it is known.
     *
     * @param basis what they were checked against; if it is another object now, they have to be checked again
     */
    @SuppressWarnings("ReferenceEquality")
    public @Nullable T find(Digest digest, Object basis) {
        Entry<T> entry = entries.get(digest);
        if (entry == null) {
            return null;
        }
        long now = nanoClock.getAsLong();
        if (isOver(entry, now)) {
            remove(digest, entry);
            return null;
        }
        if (entry.basis != basis) {
            return null; // it may be that of the next moment, see carryOver
        }
        if (now - entry.usedNanos > RENEWED_NANOS) {
            entries.replace(digest, entry, new Entry<>(entry.result, entry.bytes, basis, entry.addedNanos, now));
        }
        return entry.result;
    }

    /** Remembers a result whose texts are short. */
    public void add(Digest digest, T result, Object basis) {
        add(digest, result, BYTES, basis);
    }

    /**
     * Remembers a result, if there is memory for it.
     *
     * @param size all that it takes, in bytes
     */
    public void add(Digest digest, T result, int size, Object basis) {
        if (entries.size() >= most || bytes.get() + size > mostBytes) {
            makeRoom();
        }
        if (!memory.tryCharge(size) && !(giveUp(size) && memory.tryChargeAgain(size))) {
            return;
        }
        bytes.addAndGet(size);
        long now = nanoClock.getAsLong();
        Entry<T> before = entries.put(digest, new Entry<>(result, size, basis, now, now));
        if (before != null) {
            release(before);
        }
        if (ended) {
            clear(); // it may have ended before that was put
        }
    }

    private void release(Entry<T> forgotten) {
        bytes.addAndGet(-forgotten.bytes);
        memory.release(forgotten.bytes);
    }

    /** Forgets what is too old, and half of the rest while memory is short. To be called now and then. */
    public void tidy() {
        dropOld();
        if (memory.isShort()) {
            int left = entries.size() / 2;
            drop(entry -> entry.usedNanos == entry.addedNanos, left, Long.MAX_VALUE);
            drop(entry -> true, left, Long.MAX_VALUE);
        }
    }

    /** Forgets all, and remembers nothing any more. */
    public void end() {
        ended = true;
        clear();
    }

    private void clear() {
        entries.forEach(this::remove);
    }

    /**
     * What credentials are checked against has changed, but not for all: keeps those that were right before and still are.
     * Who asks by the former basis in this moment may find none, and has them checked again.
     */
    @SuppressWarnings("ReferenceEquality")
    void carryOver(Object before, Object now, Predicate<T> same) {
        entries.forEach((digest, entry) -> {
            if (entry.basis == before && same.test(entry.result)) {
                entries.replace(
                        digest, entry, new Entry<>(entry.result, entry.bytes, now, entry.addedNanos, entry.usedNanos));
            }
        });
    }

    private static boolean isOver(Entry<?> entry, long now) {
        return now - entry.usedNanos > KEPT_NANOS || now - entry.addedNanos > MOST_NANOS;
    }

    /**
     * Drops what is too old, then what was not used again, then whatever comes first: so many that the next ones need not
     * look through all again. So a client with very many credentials that it shows once drives out its own, and not those
     * that others use all the time.
     */
    private void makeRoom() {
        dropOld();
        int left = most - Math.max(1, most / 16);
        long leftBytes = mostBytes - mostBytes / 16;
        drop(entry -> entry.usedNanos == entry.addedNanos, left, leftBytes);
        drop(entry -> true, left, leftBytes);
    }

    /** The same where memory is scarce: drops at least so many bytes, or nothing if there are fewer; returns whether it did. */
    private boolean giveUp(int size) {
        long held = bytes.get();
        if (held < size) {
            return false;
        }
        dropOld();
        long leftBytes = held - Math.max(size, held / 16);
        drop(entry -> entry.usedNanos == entry.addedNanos, Integer.MAX_VALUE, leftBytes);
        drop(entry -> true, Integer.MAX_VALUE, leftBytes);
        return true;
    }

    private void dropOld() {
        long now = nanoClock.getAsLong();
        entries.forEach((digest, entry) -> {
            if (isOver(entry, now)) {
                remove(digest, entry);
            }
        });
    }

    private void drop(Predicate<Entry<T>> which, int left, long leftBytes) {
        Iterator<Map.Entry<Digest, Entry<T>>> all = entries.entrySet().iterator();
        while ((entries.size() > left || bytes.get() > leftBytes) && all.hasNext()) {
            Map.Entry<Digest, Entry<T>> next = all.next();
            if (which.test(next.getValue())) {
                remove(next.getKey(), next.getValue());
            }
        }
    }

    private void remove(Digest digest, Entry<T> entry) {
        if (entries.remove(digest, entry)) {
            release(entry);
        }
    }

    int size() {
        return entries.size();
    }
}
