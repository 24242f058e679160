package dev.gateway.overload;

import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The stalled peers (slow consumers) of one event loop: a {@link Holder} each, which holds direct memory that its peer does
 * not take. It is added by its owner when the peer had no room, and is removed when that has room again or it ends. When memory runs out, those are cut that cost
 * most. One for each loop, used by it only.
 */
public final class StalledPeers {
    private static final FastThreadLocal<StalledPeers> OF_THIS_LOOP = new FastThreadLocal<>() {
        @Override
        protected StalledPeers initialValue() {
            return new StalledPeers(System::nanoTime);
        }
    };

    private final LongSupplier nanoTime;
    private @Nullable Holder first;

    StalledPeers(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Returns that of the event loop that calls. */
    public static StalledPeers ofThisLoop() {
        return OF_THIS_LOOP.get();
    }

    /** Somebody who may hold bytes that a peer does not take. */
    public abstract static class Holder {
        private @Nullable StalledPeers list; // that it is on
        private @Nullable Holder previous;
        private @Nullable Holder next;
        private long sinceNanos;

        /** Returns how many bytes it holds, about. */
        protected abstract long held();

        /** Returns whose doing it is: the same object for all that one connection of a client holds. */
        protected abstract Object culprit();

        /** Ends what it is for, and with that releases what it holds; it removes itself. */
        protected abstract void cut();

        /** Its peer has no room. Being called again changes nothing. */
        public final void stall() {
            if (list == null) {
                ofThisLoop().add(this);
            }
        }

        /** Its peer has room, or it has ended. */
        public final void resume() {
            if (list != null) {
                list.remove(this);
            }
        }
    }

    void add(Holder holder) {
        holder.list = this;
        holder.sinceNanos = nanoTime.getAsLong();
        holder.next = first;
        if (first != null) {
            first.previous = holder;
        }
        first = holder;
    }

    private void remove(Holder holder) {
        if (holder.previous == null) {
            first = holder.next;
        } else {
            holder.previous.next = holder.next;
        }
        if (holder.next != null) {
            holder.next.previous = holder.previous;
        }
        holder.list = null;
        holder.previous = null;
        holder.next = null;
    }

    /** What one connection of a client holds. */
    private static final class Hoard {
        private final List<Holder> holders = new ArrayList<>();
        private long held;

        void add(Holder holder) {
            holders.add(holder);
            held += holder.held();
        }

        long held() {
            return held;
        }
    }

    /**
     * Cuts who holds most, until enough is free: of the connections that hold at least so much, the largest first, and of
     * each what holds most.
     *
     * @param least what a connection must hold to be looked at
     * @param wanted how many bytes are to be freed
     * @param nanos how long somebody must have been stalled; less may be the pace of the network
     * @return how many bytes were held by those who were cut
     */
    public long cut(long least, long wanted, long nanos) {
        long now = nanoTime.getAsLong();
        IdentityHashMap<Object, Hoard> hoards = new IdentityHashMap<>();
        for (Holder holder = first; holder != null; holder = holder.next) {
            if (now - holder.sinceNanos >= nanos) {
                hoards.computeIfAbsent(holder.culprit(), key -> new Hoard()).add(holder);
            }
        }
        List<Hoard> largest = hoards.values().stream()
                .filter(hoard -> hoard.held() >= least)
                .sorted(Comparator.comparingLong(Hoard::held).reversed())
                .toList();
        long freed = 0;
        for (Hoard hoard : largest) {
            hoard.holders.sort(Comparator.comparingLong(Holder::held).reversed());
            for (Holder holder : hoard.holders) {
                if (freed >= wanted) {
                    return freed;
                }
                if (holder.list == this) { // cutting one may have ended others
                    freed += holder.held();
                    holder.resume();
                    DirectMemory.onCut();
                    holder.cut();
                }
            }
        }
        return freed;
    }
}
