package dev.gateway.upstream;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Share of a limit. One endpoint's part of a {@link FairLimit}: what is kept for it, which nobody else can take, and beyond
 * that what is left of the rest that all may take from. Safe from any thread.
 */
public final class Share {
    private static final long TAKEN = 0xffff_ffffL;

    private final Limit rest;
    private volatile int most = Integer.MAX_VALUE; // with those from the rest
    private final AtomicLong keptAndTaken = new AtomicLong(); // upper and lower half, so that both change together
    private volatile boolean left;

    Share(Limit rest, int kept) {
        this.rest = rest;
        keptAndTaken.set((long) kept << Integer.SIZE);
    }

    static Share unlimited() {
        return new Share(new Limit(0), Integer.MAX_VALUE);
    }

    private static int kept(long state) {
        return (int) (state >>> Integer.SIZE);
    }

    private static int taken(long state) {
        return (int) (state & TAKEN);
    }

    /** Takes one if there is one left; who takes it gives it back by {@link #release}. */
    public boolean tryAcquire() {
        boolean fromRest = false; // kept while others are faster, or somebody would find the rest used up that is not
        while (true) {
            long state = keptAndTaken.get();
            boolean beyond = taken(state) >= kept(state);
            boolean refused = beyond && (taken(state) >= most || (!fromRest && !rest.tryAcquire()));
            fromRest |= beyond && !refused;
            boolean done = !refused && keptAndTaken.compareAndSet(state, state + 1);
            if (done || refused) {
                if (fromRest && !(done && beyond)) {
                    rest.release(); // it has turned out not to be needed
                }
                return done;
            }
        }
    }

    /** Takes one whether or not there is one left; given back like any other. */
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

    /** Whether more are taken than there may be, by {@link #acquireBeyond}. */
    public boolean isExceeded() {
        long state = keptAndTaken.get();
        return taken(state) > kept(state) && rest.isExceeded();
    }

    /** Whether there is one left at this moment. */
    public boolean hasRoom() {
        long state = keptAndTaken.get();
        return taken(state) < kept(state) || (taken(state) < most && rest.hasRoom());
    }

    /** Whether it has as many as it may have at all, or more, whatever is left. */
    public boolean isFull() {
        return taken() >= most;
    }

    /** Whether it has some of the rest, which others could take if it gave one back. */
    public boolean isBeyondKept() {
        long state = keptAndTaken.get();
        return taken(state) > kept(state);
    }

    /** Returns how many are taken. */
    public int taken() {
        return taken(keptAndTaken.get());
    }

    /** Its endpoint has gone: what is taken of it counts no longer, and it ends when all has been given back. */
    void leave() {
        keep(Integer.MAX_VALUE, Integer.MAX_VALUE);
        left = true;
    }

    /** Whether nobody uses it any more. */
    boolean isOver() {
        return left && taken() == 0;
    }

    /** Keeps so many for it from now on, and gives it no more than so many; what it has beyond comes from the rest. */
    void keep(int kept, int mostAtAll) {
        most = mostAtAll;
        long before;
        do {
            before = keptAndTaken.get();
        } while (!keptAndTaken.compareAndSet(before, ((long) kept << Integer.SIZE) | taken(before)));
        rest.add(Math.max(0, taken(before) - kept) - Math.max(0, taken(before) - kept(before)));
    }
}
