package dev.gateway.exchange;

import dev.gateway.upstream.Upstream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Progress watch: finds the exchanges of one event loop that keep a crowded upstream busy and make no progress because of their
 * clients. It compares what has moved by each look with the look before, so that moving bytes costs nothing. It knows nothing
 * while no upstream is crowded. Confined to its loop.
 */
final class ProgressWatch {
    /** Fewer bytes per second are no progress: those that keep a time limit from ending, such as pings. */
    private static final long LEAST_BYTES_PER_SECOND = 256;

    /** How long nothing may move. A reader that is slow takes a while to empty the buffers before it. */
    private static final long PATIENCE_NANOS = 2_000_000_000L;

    private static final double NANOS_PER_SECOND = 1e9;

    private IdentityHashMap<Object, Seen> before = new IdentityHashMap<>(); // by the last look
    private IdentityHashMap<Object, Seen> seen = new IdentityHashMap<>(); // by this look
    private Map<Upstream, UpstreamUse> uses = Map.of(); // what this look has found so far
    private long lookedNanos;
    private double leastBytes; // since the last look

    /**
     * What a look has seen of an exchange.
     *
     * @param bytes how many it had moved
     * @param stillSince when it last made progress, or was seen first
     */
    private record Seen(long bytes, long stillSince) {}

    /**
     * Looks at all exchanges.
     *
     * @param shown has each of them call {@link #see}
     * @param crowded the upstreams of interest; none if this may forget what it has seen
     * @param now by the loop's clock
     * @return who uses each of them
     */
    Map<Upstream, UpstreamUse> look(Consumer<ProgressWatch> shown, Set<Upstream> crowded, long now) {
        Map<Upstream, UpstreamUse> found = new HashMap<>();
        crowded.forEach(upstream -> found.put(upstream, new UpstreamUse(new HashMap<>(), new ArrayList<>())));
        uses = found;
        before = seen;
        seen = new IdentityHashMap<>();
        leastBytes = (now - lookedNanos) / NANOS_PER_SECOND * LEAST_BYTES_PER_SECOND;
        lookedNanos = now;
        if (!crowded.isEmpty()) {
            shown.accept(this);
        }
        before = new IdentityHashMap<>();
        uses = Map.of();
        return found;
    }

    /** Returns when it looks, by the loop's clock. */
    long nanos() {
        return lookedNanos;
    }

    /** Whether it looks for exchanges that keep this upstream busy. */
    boolean looksAt(Upstream upstream) {
        return uses.containsKey(upstream);
    }

    /**
     * An exchange keeps this upstream busy.
     *
     * @param bytes how many it has moved in both directions
     * @param waits whether it is its client that has to do something next, or anybody in a tunnel
     * @param idler what the look returns of it if it makes no progress
     */
    void see(Object exchange, Upstream upstream, long bytes, boolean waits, UpstreamUse.Idler idler) {
        UpstreamUse use = uses.get(upstream);
        if (use == null) {
            return;
        }
        use.clients().merge(idler.client(), 1, Integer::sum);
        if (waits) {
            Seen then = before.get(exchange);
            long stillSince = then != null && bytes - then.bytes < leastBytes ? then.stillSince : lookedNanos;
            seen.put(exchange, new Seen(bytes, stillSince));
            if (lookedNanos - stillSince >= PATIENCE_NANOS) {
                use.idlers().add(idler);
            }
        }
    }
}
