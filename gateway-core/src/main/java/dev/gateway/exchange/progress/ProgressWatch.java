package dev.gateway.exchange.progress;

import dev.gateway.upstream.Upstream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Progress watch: finds the exchanges of one event loop that keep a crowded upstream busy and make no progress because of their
 * clients. It compares what has moved by each look with the look before, so that moving bytes costs nothing. It knows nothing
 * while no upstream is crowded. Confined to its loop.
 */
public final class ProgressWatch {
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
     * @param shown shows it each of them, which then add themselves to {@link #use}
     * @param crowded the upstreams of interest; none if this may forget what it has seen
     * @param now by the loop's clock
     * @return who uses each of them
     */
    public Map<Upstream, UpstreamUse> look(Consumer<ProgressWatch> shown, Set<Upstream> crowded, long now) {
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
    public long nanos() {
        return lookedNanos;
    }

    /** Returns what it has found of an upstream so far, for an exchange to add itself; null if it does not look for that. */
    public @Nullable UpstreamUse use(Upstream upstream) {
        return uses.get(upstream);
    }

    /**
     * Whether an exchange has made no progress for long. To be asked at each look at which its client has to do something next,
     * or anybody in a tunnel.
     *
     * @param bytes how many it has moved in both directions
     */
    public boolean isStill(Object exchange, long bytes) {
        Seen then = before.get(exchange);
        long stillSince = then != null && bytes - then.bytes < leastBytes ? then.stillSince : lookedNanos;
        seen.put(exchange, new Seen(bytes, stillSince));
        return lookedNanos - stillSince >= PATIENCE_NANOS;
    }
}
