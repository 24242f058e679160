package dev.gateway.upstream.limit;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Share of a limit: one endpoint's part of a {@link FairLimit}. A number is kept for this endpoint, and no other endpoint
 * can take it. Beyond that the endpoint may take from the rest, which all endpoints share. Safe from any thread.
 */
public final class Share {
    private static final long TAKEN = 0xffff_ffffL;

    private final CircuitBreakerLimit rest;
    private volatile int most = Integer.MAX_VALUE; // including those from the rest
    private final AtomicLong keptAndTaken = new AtomicLong(); // upper and lower half, so that both change together
    private volatile boolean left;

    Share(CircuitBreakerLimit rest, int kept) {
        this.rest = rest;
        keptAndTaken.set((long) kept << Integer.SIZE);
    }

    /** Makes a share of no limit. */
    public static Share unlimited() {
        return new Share(new CircuitBreakerLimit(0), Integer.MAX_VALUE);
    }

    private static int kept(long state) {
        return (int) (state >>> Integer.SIZE);
    }

    private static int taken(long state) {
        return (int) (state & TAKEN);
    }

    /** Takes one if one is left; the caller gives it back by {@link #release}. */
    public boolean tryAcquire() {
        boolean fromRest = false; // taken from the rest, and held while this loop tries again
        while (true) {
            long state = keptAndTaken.get();
            boolean beyond = taken(state) >= kept(state);
            boolean refused = beyond && (taken(state) >= most || (!fromRest && !rest.tryAcquire()));
            fromRest |= beyond && !refused;
            boolean done = !refused && keptAndTaken.compareAndSet(state, state + 1);
            if (done || refused) {
                if (fromRest && !(done && beyond)) {
                    rest.release(); // not needed after all
                }
                return done;
            }
        }
    }

    /** Takes one even if none is left; the caller gives it back like any other. */
    public void acquireBeyond() {
        long before = keptAndTaken.getAndIncrement();
        if (taken(before) >= kept(before)) {
            rest.acquireBeyond();
        }
    }

    /** Gives one back. */
    public void release() {
        long before = keptAndTaken.getAndDecrement();
        if (taken(before) > kept(before)) {
            rest.release();
        }
    }

    /** Whether more than the limit are taken, by {@link #acquireBeyond}. */
    public boolean isExceeded() {
        long state = keptAndTaken.get();
        return taken(state) > kept(state) && rest.isExceeded();
    }

    /** Whether one is left at this moment. */
    public boolean hasRoom() {
        long state = keptAndTaken.get();
        return taken(state) < kept(state) || (taken(state) < most && rest.hasRoom());
    }

    /** Whether it has at least its maximum, even if others left some. */
    public boolean isFull() {
        return taken() >= most;
    }

    /** Whether it has taken some of the rest, which others could take if it gave one back. */
    public boolean isBeyondKept() {
        long state = keptAndTaken.get();
        return taken(state) > kept(state);
    }

    /** Returns how many are taken. */
    public int taken() {
        return taken(keptAndTaken.get());
    }

    /** Has no limit until its limit is divided, because requests may come a moment before that. */
    public void beginUndivided() {
        keep(Integer.MAX_VALUE, Integer.MAX_VALUE);
    }

    /** The upstream has removed the endpoint: what is taken no longer counts, and the share ends when all is given back. */
    public void leave() {
        keep(Integer.MAX_VALUE, Integer.MAX_VALUE);
        left = true;
    }

    /** Whether its endpoint was removed and has given everything back. */
    boolean isOver() {
        return left && taken() == 0;
    }

    /**
     * Changes how many are kept for it, and how many it may have in total. What it has beyond kept counts as the rest's.
     */
    void keep(int kept, int mostAtAll) {
        most = mostAtAll;
        long before;
        do {
            before = keptAndTaken.get();
        } while (!keptAndTaken.compareAndSet(before, ((long) kept << Integer.SIZE) | taken(before)));
        rest.add(Math.max(0, taken(before) - kept) - Math.max(0, taken(before) - kept(before)));
    }
}
