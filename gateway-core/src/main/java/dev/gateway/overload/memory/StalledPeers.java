package dev.gateway.overload.memory;

import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The stalled peers (slow consumers) of one event loop: a {@link Holder} for each, with the direct memory that its peer
 * does not take. The owner adds a holder when the peer has no room, and removes it when the peer has room again or the
 * exchange ends. If memory runs out, {@link #cut} ends those of the client that holds most, the longest stalled first. One
 * object for each loop, used by that loop only.
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

    /** Makes one with a clock of its own, for tests. */
    public StalledPeers(LongSupplier nanoTime) {
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

        /** Returns approximately how many bytes of direct memory it holds. */
        protected abstract long held();

        /** Returns approximately how many bytes of heap it holds. */
        protected abstract long heldHeap();

        /** Returns the cause of it: the same object for everything that one client holds. */
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

    /** Adds one that is not in the list: its peer has no room. */
    public void add(Holder holder) {
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

    /** The kind of memory that runs out. */
    public enum Memory {
        /** Counted on this loop, as most of it is charged to nobody while an exchange runs. */
        DIRECT(Holder::held, null),
        /** Direct memory that is charged: of a client it is known what it holds on all loops. */
        CHARGED_DIRECT(Holder::held, ClientMemory::direct),
        /** The heap, which is charged. */
        HEAP(Holder::heldHeap, ClientMemory::heap);

        private final ToLongFunction<Holder> ofHolder;
        private final @Nullable Function<ClientMemory, LongAdder> ofClient; // null if only its holders tell

        Memory(ToLongFunction<Holder> ofHolder, @Nullable Function<ClientMemory, LongAdder> ofClient) {
            this.ofHolder = ofHolder;
            this.ofClient = ofClient;
        }

        long of(Holder holder) {
            return ofHolder.applyAsLong(holder);
        }
    }

    /** All holders of one client, the longest stalled first. */
    private static final class Hoard {
        private final List<Holder> holders = new ArrayList<>();
        private long held;

        void add(Holder holder, Memory memory) {
            holders.add(holder);
            held += memory.of(holder);
        }

        /** It counts with all that its client holds, on other loops too, and for requests whose client waits. */
        void sum(Object culprit, Memory memory) {
            if (memory.ofClient != null && culprit instanceof ClientMemory client) {
                held = memory.ofClient.apply(client).sum();
            }
        }

        long held() {
            return held;
        }
    }

    /** Returns the holders that have been stalled for this time, the longest stalled first. */
    private List<Holder> stalled(long nanos) {
        long now = nanoTime.getAsLong();
        List<Holder> found = new ArrayList<>();
        for (Holder holder = first; holder != null; holder = holder.next) {
            if (now - holder.sinceNanos >= nanos) {
                found.add(holder);
            }
        }
        found.sort(Comparator.comparingLong((Holder holder) -> now - holder.sinceNanos)
                .reversed());
        return found;
    }

    /** Ends holders for want of direct memory. */
    public long cut(long least, long wanted, long nanos) {
        return cut(Memory.DIRECT, least, wanted, nanos, DirectMemory::onCut);
    }

    /**
     * Ends holders of the client that holds most, until enough is free, and then those of the next client. Of each client, the
     * one that has stalled for the longest time comes first.
     *
     * @param memory what is to be freed
     * @param least the minimum that a client must hold
     * @param wanted how many bytes to free
     * @param nanos how long a peer must have been stalled: a shorter time may be normal for its network
     * @param onCut runs for each holder that is ended
     * @return how many bytes the ended holders had
     */
    public long cut(Memory memory, long least, long wanted, long nanos, Runnable onCut) {
        IdentityHashMap<Object, Hoard> hoards = new IdentityHashMap<>();
        for (Holder holder : stalled(nanos)) {
            hoards.computeIfAbsent(holder.culprit(), key -> new Hoard()).add(holder, memory);
        }
        hoards.forEach((culprit, hoard) -> hoard.sum(culprit, memory));
        List<Hoard> largest = hoards.values().stream()
                .filter(hoard -> hoard.held() >= least)
                .sorted(Comparator.comparingLong(Hoard::held).reversed())
                .toList();
        long freed = 0;
        for (Hoard hoard : largest) {
            for (Holder holder : hoard.holders) {
                if (freed >= wanted) {
                    return freed;
                }
                long held = memory.of(holder);
                if (holder.list == this && held > 0) { // cutting one may have ended others
                    freed += held;
                    holder.resume();
                    onCut.run();
                    holder.cut();
                }
            }
        }
        return freed;
    }
}
