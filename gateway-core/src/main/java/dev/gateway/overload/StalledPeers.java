package dev.gateway.overload;

import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The stalled peers (slow consumers) of one event loop: a {@link Holder} for each, with the direct memory that its peer
 * does not take. The owner adds a holder when the peer has no room, and removes it when the peer has room again or the
 * exchange ends. If memory runs out, {@link #cut} ends those that hold most. One object for each loop, used by that loop
 * only.
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

    /** Returns the stalled peers of the current event loop. */
    public static StalledPeers ofThisLoop() {
        return OF_THIS_LOOP.get();
    }

    /** An exchange or a stream that may hold bytes that a peer does not take. */
    public abstract static class Holder {
        private @Nullable StalledPeers list; // the list that it is in, or null
        private @Nullable Holder previous;
        private @Nullable Holder next;
        private long sinceNanos;

        /** Returns approximately how many bytes it holds. */
        protected abstract long held();

        /** Returns the cause of it: the same object for everything that one connection of a client holds. */
        protected abstract Object culprit();

        /** Ends the exchange or stream, and so releases what it holds; it removes itself. */
        protected abstract void cut();

        /** Its peer has no room. Further calls have no effect. */
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

    /** All holders of one connection of a client. */
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
     * Ends the holders that hold most, until enough is free: those of the connection that holds most first, and of each
     * connection the largest first.
     *
     * @param least the minimum that a connection must hold
     * @param wanted how many bytes to free
     * @param nanos how long a peer must have been stalled: a shorter time may be normal for its network
     * @return how many bytes the ended holders had
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
