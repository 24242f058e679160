package dev.gateway.overload.memory;

/**
 * Memory budget of one event loop: its part of a {@link MemoryBudget}. The loop keeps some bytes ready, so that most
 * charges are a comparison and two additions. Confined to its loop.
 */
public final class LoopBudget {
    private final MemoryBudget shared;
    private long held;
    private long ready; // granted to this loop and not used

    /** Makes the part of one event loop; used on that loop only. */
    public LoopBudget(MemoryBudget shared) {
        this.shared = shared;
    }

    /** Charges bytes; returns false, and charges nothing, if too few are left. */
    public boolean tryCharge(long bytes) {
        if (bytes > ready && !borrow(bytes - ready)) {
            return false;
        }
        ready -= bytes;
        held += bytes;
        return true;
    }

    /** Charges bytes that are already held, so that they cannot be refused. */
    public void charge(long bytes) {
        if (!tryCharge(bytes)) {
            shared.grant(bytes);
            held += bytes;
        }
    }

    /** This number of bytes was freed. */
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

    /** Returns how many bytes all loops together may hold. */
    public long capacity() {
        return shared.capacity();
    }

    /** Returns how many bytes this loop could charge now; another loop may take them first. */
    public long left() {
        return Math.max(0, shared.capacity() - shared.granted() + ready);
    }
}
