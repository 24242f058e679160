package dev.gateway.filter.ratelimit;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * What one event loop knows of a store's buckets, so that it need not ask about each request: keys that the store has
 * refused, until when, and requests of busy keys that it has taken in advance. A table of fixed size, whatever keys come. A
 * few places are possible for each key; the one that was used least recently makes room. Confined to the event loop.
 *
 * <p>If the gateway's own buckets decide while the store does not answer, they count all the time. A request needs room in
 * the own bucket, too, which lacks at least what the store last said. So a gateway never lets more pass than its own bucket
 * would, even if only some event loops reach the store. A store that fails leaves no full bucket, and neither does one that
 * comes back without its data.
 */
final class LoopStore {
    /** The request waits for the store. */
    static final long WAITING = Long.MIN_VALUE;

    /** The store does not decide. */
    static final long UNDECIDED = Long.MIN_VALUE + 1;

    /** How many requests may wait for answers. */
    static final int MOST_WAITING = 10_000;

    static final int PLACES = 1 << 12;
    static final int WAYS = 8;

    /** Of a key that is busy, as many requests are taken in advance as came in this time. */
    static final long PERIOD_NANOS = 10_000_000;

    private static final int LEASE_SHARE = 100; // this part of a bucket may be taken in advance

    /** What was taken in advance is lost if the key gets no request in this time. */
    static final long LEASE_NANOS = 1_000_000_000;

    private final StoreClient client;
    private final boolean ownCounts; // whether the gateway's own buckets count while the store answers
    private final @Nullable Known[] places = new @Nullable Known[PLACES];
    private int waiting;

    /** A request that waits. */
    interface Waiter {
        /** Returns the key of its bucket in the store. */
        String storeKey();

        /** Whether it has gone meanwhile: then it takes nothing, and hears nothing. */
        boolean isGone();

        /**
         * The store has decided, or has not.
         *
         * @param result what {@link Limit#take} returns, or {@link #UNDECIDED}
         */
        void onDecided(long result);

        /** Returns the loop's clock. */
        long nanoTime();
    }

    /** What is known of one key. */
    private final class Known implements StoreClient.Answer {
        private final RequestLimit limit;
        private final long key;
        private final String storeKey;
        private Deque<Waiter> waiters = new ArrayDeque<>(1);
        private boolean asking;
        private int asked; // for how many, in the question under way
        private long askedNanos; // when
        private int failures; // of the store, when the rest became known
        private int ready; // taken in advance
        private long lacks; // of the bucket, at that time
        private long lacksNanos;
        private boolean refused;
        private long refusedUntilNanos;
        private long usedNanos;
        private long periodNanos; // when the current one began
        private int inPeriod;
        private int inLast;

        Known(RequestLimit limit, long key, String storeKey, long nanos) {
            this.limit = limit;
            this.key = key;
            this.storeKey = storeKey;
            this.usedNanos = nanos;
            this.periodNanos = nanos;
        }

        /** Forgets what a store said that has failed since: it may have lost it, and onError decides meanwhile. */
        void forgetFormer() {
            int current = client.failures();
            if (failures != current) {
                failures = current;
                ready = 0;
                refused = false;
            }
        }

        void count(long nanos) {
            forgetFormer();
            if (nanos - usedNanos > LEASE_NANOS) {
                ready = 0;
            }
            if (nanos - periodNanos >= PERIOD_NANOS) {
                inLast = nanos - periodNanos < 2 * PERIOD_NANOS ? inPeriod : 0;
                inPeriod = 0;
                periodNanos = nanos;
            }
            inPeriod++;
            usedNanos = nanos;
        }

        boolean isRefused(long nanos) {
            forgetFormer();
            refused = refused && refusedUntilNanos - nanos > 0;
            return refused;
        }

        /** Returns what {@link Limit#take} does for a request that the store has let pass. */
        long allowed(long nanos) {
            long since = (long) ((nanos - lacksNanos) * limit.pace().ticksPerNano());
            return Math.max(Pace.REQUEST, lacks - since);
        }

        long denied(long nanos) {
            return Math.min(
                    -1, (long) ((nanos - refusedUntilNanos) * limit.pace().ticksPerNano()));
        }

        long take(Waiter waiter, long nanos) {
            count(nanos);
            if (!asking) {
                if (ready > 0) {
                    ready--;
                    return allowed(nanos);
                }
                if (isRefused(nanos)) {
                    return denied(nanos);
                }
            }
            if (waiting >= MOST_WAITING || !client.mayAsk()) {
                return UNDECIDED;
            }
            long own = ownCounts ? limit.take(key, nanos) : 0; // each request that waits has taken one
            if (own < 0) {
                return own;
            }
            waiters.add(waiter);
            waiting++;
            if (!asking && !ask(nanos)) {
                waiters.clear();
                waiting--;
                putBackOwn(1);
                return UNDECIDED;
            }
            return WAITING;
        }

        private void putBackOwn(int requests) {
            if (ownCounts && requests > 0) {
                limit.putBack(key, requests);
            }
        }

        private boolean ask(long nanos) {
            Pace pace = limit.pace();
            askedNanos = nanos;
            int inAdvance = Math.min(lease(pace), Math.max(inLast, inPeriod) - waiters.size());
            asked = waiters.size() + Math.max(0, inAdvance);
            asking = client.ask(question(pace, storeKey, asked), this);
            return asking;
        }

        @Override
        public void onTaken(int granted, long lacksNow) {
            Deque<Waiter> decided = endWait();
            int all = decided.size();
            decided.removeIf(Waiter::isGone);
            putBackOwn(all - decided.size());
            long nanos = decided.isEmpty() ? usedNanos : decided.getFirst().nanoTime();
            long whenAsked = askedNanos;
            lacks = lacksNow;
            lacksNanos = nanos;
            forgetFormer();
            int passing = Math.min(granted, decided.size());
            ready = granted - passing;
            if (granted < asked) {
                refuse(nanos);
            }
            Deque<Waiter> rest = new ArrayDeque<>();
            while (decided.size() > passing) {
                rest.addFirst(decided.removeLast());
            }
            boolean again = granted >= asked && !rest.isEmpty() && askFor(rest, nanos);
            if (!again) {
                putBackOwn(rest.size());
            }
            if (ownCounts) { // from when it was asked: the own bucket must not have less room than that of the store
                limit.charge(key, ready * Pace.REQUEST, lacks, whenAsked);
            }
            decided.forEach(each -> tell(each, allowed(nanos)));
            if (!again) {
                rest.forEach(each -> tell(each, refused ? denied(nanos) : UNDECIDED));
            }
        }

        /** They came after the question. */
        private boolean askFor(Deque<Waiter> rest, long nanos) {
            waiters.addAll(rest);
            if (!ask(nanos)) {
                waiters.clear();
                return false;
            }
            waiting += rest.size();
            return true;
        }

        /** The bucket is empty: not before it has another request, and not for each of them where it is a large one. */
        private void refuse(long nanos) {
            Pace pace = limit.pace();
            long missing = Math.max(1, lacks + Pace.REQUEST - pace.capacity());
            long forLease = Math.min(PERIOD_NANOS, pace.nanos(lease(pace) * Pace.REQUEST));
            refused = true;
            refusedUntilNanos = nanos + Math.max(pace.nanos(missing), forLease);
        }

        @Override
        public void onFailure() {
            Deque<Waiter> undecided = endWait();
            putBackOwn(undecided.size());
            undecided.forEach(each -> tell(each, UNDECIDED));
        }

        private Deque<Waiter> endWait() {
            Deque<Waiter> ended = waiters;
            waiters = new ArrayDeque<>(1);
            waiting -= ended.size();
            asking = false;
            return ended;
        }
    }

    /** Tells a request, unless it has gone because of what was told to another one of its connection. */
    private static void tell(Waiter waiter, long result) {
        if (!waiter.isGone()) {
            waiter.onDecided(result);
        }
    }

    /**
     * Makes one that knows nothing.
     *
     * @param ownCounts whether the gateway's own buckets count while the store answers, and refuse requests, too
     */
    LoopStore(StoreClient client, boolean ownCounts) {
        this.client = client;
        this.ownCounts = ownCounts;
    }

    /**
     * Refuses a request if the store has refused its key, and would still.
     *
     * @return what {@link Limit#take} does, or {@link #UNDECIDED} if nothing is known against the request
     */
    long refuse(RequestLimit limit, long key, long nanos) {
        Known known = find(limit, key);
        if (known == null || known.asking || !known.isRefused(nanos) || known.ready > 0) {
            return UNDECIDED;
        }
        known.count(nanos);
        return known.denied(nanos);
    }

    /**
     * Takes one for a request.
     *
     * @return what {@link Limit#take} does, or {@link #WAITING} or {@link #UNDECIDED}
     */
    long take(RequestLimit limit, long key, Waiter waiter, long nanos) {
        Known known = find(limit, key);
        return (known == null ? add(limit, key, waiter, nanos) : known).take(waiter, nanos);
    }

    /** Puts one back in the store. Nobody waits for the answer; if none comes, the bucket fills by itself. */
    void giveBack(RequestLimit limit, long key, String storeKey) {
        if (ownCounts) {
            limit.putBack(key, 1);
        }
        client.ask(question(limit.pace(), storeKey, -1), new StoreClient.Answer() {
            @Override
            public void onTaken(int granted, long lacks) {
                Known known = find(limit, key);
                if (known != null) {
                    known.refused = false; // there is room for the next one now
                }
            }

            @Override
            public void onFailure() {}
        });
    }

    private static int lease(Pace pace) {
        return (int) (pace.capacity() / Pace.REQUEST / LEASE_SHARE);
    }

    private static StoreClient.Question question(Pace pace, String key, int wanted) {
        return new StoreClient.Question(key, pace.capacity(), pace.ticksPerNano() * 1_000, wanted);
    }

    /** Returns how many requests wait for answers. */
    int waiting() {
        return waiting;
    }

    /** The table has keys of several limits, and limits without a key. */
    private static int firstPlace(RequestLimit limit, long limitKey) {
        long key = limitKey == Limit.ALL ? limit.purpose() : limitKey;
        return (int) ((key >>> 32) & (PLACES / WAYS - 1)) * WAYS;
    }

    private @Nullable Known find(RequestLimit limit, long key) {
        int first = firstPlace(limit, key);
        for (int place = first; place < first + WAYS; place++) {
            Known known = places[place];
            if (known != null && known.key == key && known.limit == limit) {
                return known;
            }
        }
        return null;
    }

    /** Makes room for a key. If questions about all others are under way, nothing is remembered of it. */
    private Known add(RequestLimit limit, long key, Waiter waiter, long nanos) {
        Known added = new Known(limit, key, waiter.storeKey(), nanos);
        int first = firstPlace(limit, key);
        int found = -1;
        long unused = -1; // for how long what is there was not used
        for (int place = first; place < first + WAYS; place++) {
            Known known = places[place];
            if (known == null) {
                found = place;
                break;
            }
            if (!known.asking && nanos - known.usedNanos > unused) {
                found = place;
                unused = nanos - known.usedNanos;
            }
        }
        if (found >= 0) {
            places[found] = added;
        }
        return added;
    }
}
