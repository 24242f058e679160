package dev.gateway.filter.ratelimit;

import dev.gateway.config.StoreConfig.OnError;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One request on its way through the limits of a filter that count in stores, one after the other. Confined to
 * the exchange's event loop.
 */
final class StoredCheck implements LoopStore.Waiter {
    private static final long REFUSED = -1; // for a moment: nobody knows how long the store is away

    private static final Verdict NO_ROOM =
            new Verdict.Refuse(Failure.of(Cause.OVERLOAD, "no memory is left for a request that waits for a store"));

    /** What a request takes that waits: this, its question, and what is known of a key that nobody else has. */
    static final long BYTES = 576;

    private final Limits limits;
    private RequestHead head;
    private FilterContext context;
    private final long[] taken;
    private final boolean[] holds; // which limits have given something
    private final boolean[] inStore; // from a store
    private int at; // the limit that decides now
    private boolean gone;

    /** The limits of the filter. */
    interface Limits {
        SharedLimit shared(int index);

        /** Returns the key of the request in the store, without the store's own part. */
        LimitKey storeKey(int index);

        /** Returns the key of the request in this gateway. */
        long key(int index, RequestHead head, FilterContext context);

        /** Returns the verdict that all limits let the request pass. */
        Verdict allow(long[] taken, RequestHead head, FilterContext context);

        Verdict refuse(int index, long result);

        /** Refuses a request that a store did not decide about. */
        Verdict refuseUncounted(int index, String store);

        /** Gives back what a limit has given that counts in this gateway. */
        void giveBack(int index, long taken, RequestHead head, FilterContext context);
    }

    /**
     * Prepares it.
     *
     * @param taken has what the limits before the first gave, which count in the gateway
     * @param first of the limits that count in stores
     */
    StoredCheck(Limits limits, RequestHead head, FilterContext context, long[] taken, int first) {
        this.limits = limits;
        this.head = head;
        this.context = context;
        this.taken = taken;
        this.holds = new boolean[taken.length];
        Arrays.fill(holds, 0, first, true);
        this.inStore = new boolean[taken.length];
        this.at = first;
    }

    Verdict begin() {
        Verdict refused = refusal();
        if (refused != null) {
            return refused;
        }
        if (!context.tryHold(BYTES, true)) { // before it asks: a question cannot be taken back
            giveBack();
            return NO_ROOM;
        }
        Verdict verdict = advance();
        if (verdict == null) {
            return new Verdict.Wait(this::onGone);
        }
        context.release(BYTES);
        return verdict;
    }

    /** Returns the refusal of a limit that is known to refuse, or null: it spares the others a question, and its undoing. */
    private @Nullable Verdict refusal() {
        for (int i = at; i < taken.length; i++) {
            SharedLimit limit = limits.shared(i);
            long result = store(limit).refuse(limit.local(), key(i), nanoTime());
            if (result != LoopStore.UNDECIDED) {
                limit.store().countDenied();
                giveBack();
                return limits.refuse(i, result);
            }
        }
        return null;
    }

    private LoopStore store(SharedLimit limit) {
        return limit.store().on(context.loop());
    }

    private long key(int index) {
        return limits.key(index, head, context);
    }

    /** Continues until a limit refuses the request, or has to ask; then returns null. */
    private @Nullable Verdict advance() {
        Verdict verdict = null;
        while (verdict == null && at < taken.length) {
            SharedLimit limit = limits.shared(at);
            long result = store(limit).take(limit.local(), key(at), this, nanoTime());
            if (result == LoopStore.WAITING) {
                return null;
            }
            verdict = decide(limit, result);
        }
        return verdict == null ? limits.allow(taken, head, context) : verdict;
    }

    /** Returns null if the limit lets the request pass. */
    private @Nullable Verdict decide(SharedLimit limit, long result) {
        LimitStore store = limit.store();
        OnError onError = store.onError();
        boolean undecided = result == LoopStore.UNDECIDED;
        long decided = result;
        if (undecided) {
            store.countUndecided();
            decided = switch (onError) {
                case LOCAL -> limit.take(key(at), nanoTime());
                case ALLOW -> 0;
                case DENY -> REFUSED;
            };
        } else if (result < 0) {
            store.countDenied();
        } else {
            store.countAllowed();
            inStore[at] = true;
        }
        if (decided < 0) {
            giveBack();
            return undecided && onError == OnError.DENY
                    ? limits.refuseUncounted(at, store.name())
                    : limits.refuse(at, decided);
        }
        holds[at] = inStore[at] || onError == OnError.LOCAL;
        taken[at++] = decided;
        return null;
    }

    /** What other limits have given, they get back. */
    private void giveBack() {
        for (int i = 0; i < holds.length; i++) {
            if (inStore[i]) {
                SharedLimit limit = limits.shared(i);
                store(limit).giveBack(limit.local(), key(i), storeKey(i));
            } else if (holds[i]) {
                limits.giveBack(i, taken[i], head, context);
            }
        }
    }

    private String storeKey(int index) {
        return limits.shared(index).storeKey(limits.storeKey(index), head, context);
    }

    @Override
    public String storeKey() {
        return storeKey(at);
    }

    @Override
    public long nanoTime() {
        return context.nanoTime();
    }

    @Override
    public boolean isGone() {
        return gone;
    }

    /** The exchange has ended before its turn. What waits for the store until its time limit must not keep the request. */
    @SuppressWarnings("NullAway") // nobody asks it anything afterwards
    private void onGone() {
        gone = true;
        giveBack();
        head = null;
        context = null;
    }

    @Override
    public void onDecided(long result) {
        Verdict verdict = decide(limits.shared(at), result);
        if (verdict == null) {
            verdict = advance();
        }
        if (verdict != null) {
            context.release(BYTES);
            context.resume(verdict);
        }
    }
}
