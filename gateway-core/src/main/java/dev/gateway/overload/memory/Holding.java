package dev.gateway.overload.memory;

import org.jspecify.annotations.Nullable;

/**
 * Memory charge of one exchange or message: how much it holds of its connection's {@link Account}. {@link #release} frees
 * all of it. While an exchange waits for an upstream, it also counts in that upstream's {@link PendingRequestMemory}.
 */
public final class Holding {
    private final Account account;
    private @Nullable PendingRequestMemory pending; // of the upstream that the exchange waits for
    private long bytes;

    /** Begins with no bytes. */
    public Holding(Account account) {
        this.account = account;
    }

    /** Charges bytes; returns false, and charges nothing, if they are too many. */
    public boolean tryAdd(long more) {
        if (!account.tryCharge(more)) {
            return false;
        }
        grow(more);
        return true;
    }

    /** Charges bytes that are held already, so that they cannot be refused. */
    public void add(long more) {
        account.charge(more);
        grow(more);
    }

    /** Charges bytes of something optional. Returns false, and charges nothing, unless enough memory stays free for others. */
    public boolean tryAddSpare(long more) {
        if (!account.tryChargeSpare(more)) {
            return false;
        }
        grow(more);
        return true;
    }

    /** Charges bytes of something that no client needs. Returns false, and charges nothing, unless most memory is free. */
    public boolean tryAddSurplus(long more) {
        if (!account.tryChargeSurplus(more)) {
            return false;
        }
        grow(more);
        return true;
    }

    private void grow(long more) {
        bytes += more;
        if (pending != null) {
            pending.add(more);
        }
    }

    /**
     * Charges the arrived part of something that is useful only when it is complete; returns false if it is too much.
     *
     * @param all how many bytes it holds now, including those charged before
     */
    public boolean tryGrowTo(long all) {
        if (all <= bytes) {
            return true;
        }
        if (!account.tryChargeUnfinished(all - bytes)) {
            return false;
        }
        grow(all - bytes);
        return true;
    }

    /** Releases some bytes. */
    public void remove(long fewer) {
        account.release(fewer);
        grow(-fewer);
    }

    /** Releases all bytes. */
    public void release() {
        waitsNoMore();
        if (bytes != 0) {
            account.release(bytes);
            bytes = 0;
        }
    }

    /**
     * The exchange waits for an upstream from now on, so its bytes count in the upstream's {@link PendingRequestMemory}.
     */
    public void waitFor(PendingRequestMemory of) {
        waitsNoMore();
        pending = of;
        of.add(bytes);
    }

    /** The upstream has answered. */
    public void waitsNoMore() {
        if (pending != null) {
            pending.add(-bytes);
            pending = null;
        }
    }

    /** Returns how many bytes are held. */
    public long bytes() {
        return bytes;
    }
}
