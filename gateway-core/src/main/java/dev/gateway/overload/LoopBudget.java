package dev.gateway.overload;

/**
 * Memory budget of one event loop: one event loop's part of a {@link MemoryBudget}. A charge is a comparison and two
 * additions as long as what the loop keeps ready is enough. Confined to its loop.
 */
public final class LoopBudget {
    private final MemoryBudget shared;
    private long held;
    private long ready; // granted to this loop and not held

    /** Makes the part of one event loop; to be used on that loop only. */
    public LoopBudget(MemoryBudget shared) {
        this.shared = shared;
    }

    /** Charges bytes that somebody is about to hold; returns false, and charges nothing, if too few are left. */
    public boolean tryCharge(long bytes) {
        if (bytes > ready && !borrow(bytes - ready)) {
            return false;
        }
        ready -= bytes;
        held += bytes;
        return true;
    }

    /** Charges bytes that are held already, and cannot be refused any more. */
    public void charge(long bytes) {
        if (!tryCharge(bytes)) {
            shared.grant(bytes);
            held += bytes;
        }
    }

    /** Somebody holds that many bytes no more. */
    public void release(long bytes) {
        held -= bytes;
        ready += bytes;
        long step = shared.step();
        if (ready > 2 * step) {
            shared.giveBack(ready - step);
            ready = step;
        }
    }

    private boolean borrow(long missing) {
        if (shared.tryGrant(missing + shared.step())) {
            ready += missing + shared.step();
            return true;
        }
        if (shared.tryGrant(missing)) {
            ready += missing;
            return true;
        }
        return false;
    }

    /** Returns how many bytes are held on this loop. */
    public long held() {
        return held;
    }

    /** Returns how many bytes may be held on all loops together. */
    public long capacity() {
        return shared.capacity();
    }

    /** Returns how many bytes this loop could charge now; others may be faster. */
    public long left() {
        return Math.max(0, shared.capacity() - shared.granted() + ready);
    }
}
