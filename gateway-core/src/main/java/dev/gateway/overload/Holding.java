package dev.gateway.overload;

import org.jspecify.annotations.Nullable;

/**
 * Memory charge of one exchange. What one exchange, or one message, holds of its connection's {@link Account}: all of it is
 * released at once. While an exchange waits for an upstream, it counts for that upstream's {@link PendingRequestMemory},
 * too.
 */
public final class Holding {
    private final Account account;
    private @Nullable PendingRequestMemory pending; // of the upstream that is waited for
    private long bytes;

    /** Makes a holding of nothing. */
    public Holding(Account account) {
        this.account = account;
    }

    /** Charges bytes that are about to be held; returns false, and charges nothing, if they are too many. */
    public boolean tryAdd(long more) {
        if (!account.tryCharge(more)) {
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
     * Charges what has come of something that is useful only when all of it has; returns false if that is too much.
     *
     * @param all how many bytes are held now, with those charged before
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

    /** Some of it is held no more. */
    public void remove(long fewer) {
        account.release(fewer);
        grow(-fewer);
    }

    /** Nothing of it is held any more. */
    public void release() {
        waitsNoMore();
        if (bytes != 0) {
            account.release(bytes);
            bytes = 0;
        }
    }

    /** An upstream is waited for from now on, so what is held counts for its {@link PendingRequestMemory}. */
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
