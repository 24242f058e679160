package dev.gateway.overload;

/** What one exchange, or one message, holds of its connection's {@link Account}: all of it is released at once. */
public final class Holding {
    private final Account account;
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
        bytes += more;
        return true;
    }

    /**
     * Charges what has come of something that is of use only when all of it has; returns false if that is too much.
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
        bytes = all;
        return true;
    }

    /** Some of it is held no more. */
    public void remove(long fewer) {
        account.release(fewer);
        bytes -= fewer;
    }

    /** Nothing of it is held any more. */
    public void release() {
        if (bytes != 0) {
            account.release(bytes);
            bytes = 0;
        }
    }

    /** Returns how many bytes are held. */
    public long bytes() {
        return bytes;
    }
}
