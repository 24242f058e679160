package dev.gateway.filter.ratelimit;

import dev.gateway.config.StoreConfig.OnError;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

/**
 * Limit store: where limits of several gateways count together. What it has counted outlives reloads. Shared by event loops,
 * each of which has its own part.
 */
public final class LimitStore {
    private final String name;
    private final LongAdder allowed = new LongAdder();
    private final LongAdder denied = new LongAdder();
    private final LongAdder undecided = new LongAdder();
    private volatile Place place;

    /** Where the store is. */
    public static final class Place {
        private final String keyPrefix;
        private final OnError onError;
        private final Function<Executor, StoreClient> clients;
        private final Map<Executor, LoopStore> loops = new ConcurrentHashMap<>();

        /**
         * Makes a place where nobody has asked.
         *
         * @param keyPrefix what all keys begin with
         * @param clients returns the client of an event loop; called on it
         */
        public Place(String keyPrefix, OnError onError, Function<Executor, StoreClient> clients) {
            this.keyPrefix = keyPrefix;
            this.onError = onError;
            this.clients = clients;
        }

        private LoopStore newLoop(Executor loop) {
            return new LoopStore(clients.apply(loop), onError == OnError.LOCAL);
        }
    }

    /**
     * Makes one.
     *
     * @param name for messages
     */
    public LimitStore(String name, Place place) {
        this.name = name;
        this.place = place;
    }

    /** Asks at another place from now on. */
    public void change(Place to) {
        place = to;
    }

    String name() {
        return name;
    }

    String keyPrefix() {
        return place.keyPrefix;
    }

    OnError onError() {
        return place.onError;
    }

    /** Returns the part of an event loop, for which it must be called there. */
    LoopStore on(Executor loop) {
        Place current = place;
        LoopStore known = current.loops.get(loop);
        return known != null ? known : current.loops.computeIfAbsent(loop, current::newLoop);
    }

    void countAllowed() {
        allowed.increment();
    }

    void countDenied() {
        denied.increment();
    }

    void countUndecided() {
        undecided.increment();
    }

    /** Returns how many requests it let pass, once for each limit. */
    public long allowed() {
        return allowed.sum();
    }

    /** Returns how many requests it refused, also those that event loops refused because it had refused others. */
    public long denied() {
        return denied.sum();
    }

    /** Returns how many requests were decided without it, because it did not answer. */
    public long undecided() {
        return undecided.sum();
    }
}
