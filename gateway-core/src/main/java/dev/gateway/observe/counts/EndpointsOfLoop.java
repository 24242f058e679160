package dev.gateway.observe.counts;

import dev.gateway.stream.EndpointName;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Endpoint counts of one event loop: what one event loop counts of the endpoints of one upstream, by their addresses. The
 * first {@link #MOST} endpoints have counters of their own, all others share one set. The loop finds them by position,
 * without a look-up, as long as the endpoint is the same object as before.
 */
public final class EndpointsOfLoop {
    /** How many endpoints of an upstream have counters of their own. */
    public static final int MOST = 100;

    /** How many counters are kept with those of endpoints that have gone lately. */
    private static final int MOST_KEPT = 10 * MOST;

    private static final long FORGET_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Map<String, EndpointMeters> byAddress = new ConcurrentHashMap<>();
    private volatile @Nullable EndpointMeters other;
    // Of the loop only.
    private @Nullable EndpointName[] endpoints = new @Nullable EndpointName[1];
    private @Nullable EndpointMeters[] found = new @Nullable EndpointMeters[1];

    /** Returns what counts for an endpoint; null if a request has named it, for such have none. To be called on the loop. */
    @SuppressWarnings("ReferenceEquality") // another object of the same address is found by its address
    @Nullable
    public EndpointMeters onLoop(@Nullable EndpointName endpoint, int index) {
        if (endpoint == null || index < 0) {
            return null;
        }
        if (index >= MOST) {
            return forOthers();
        }
        if (index < endpoints.length && endpoints[index] == endpoint) {
            return found[index];
        }
        if (byAddress.size() >= MOST_KEPT && !byAddress.containsKey(endpoint.toString())) {
            return forOthers(); // so many have come and gone lately
        }
        if (index >= endpoints.length) {
            int length = Math.min(MOST, Math.max(index + 1, 2 * endpoints.length));
            endpoints = Arrays.copyOf(endpoints, length);
            found = Arrays.copyOf(found, length);
        }
        EndpointMeters meters = byAddress.computeIfAbsent(endpoint.toString(), address -> new EndpointMeters());
        endpoints[index] = endpoint;
        found[index] = meters;
        return meters;
    }

    private EndpointMeters forOthers() {
        EndpointMeters known = other;
        if (known == null) {
            known = new EndpointMeters();
            other = known;
        }
        return known;
    }

    /** Returns what counts for an address, null if nothing has been counted. Any thread may ask. */
    @Nullable
    public EndpointMeters of(String address) {
        return byAddress.get(address);
    }

    /** Returns what counts for the endpoints beyond the first ones, null if nothing has been counted. */
    @Nullable
    public EndpointMeters others() {
        return other;
    }

    /**
     * Forgets endpoints that have not been part of the configuration for a minute: not sooner, as the loop may know of a
     * new configuration a moment earlier than the caller. Always called by the same thread.
     */
    public void keepOnly(Set<String> addresses, long now) {
        byAddress.entrySet().removeIf(entry -> {
            EndpointMeters meters = entry.getValue();
            if (addresses.contains(entry.getKey())) {
                meters.goneSinceNanos = 0;
                return false;
            }
            if (meters.goneSinceNanos == 0) {
                meters.goneSinceNanos = now | 1; // never 0
            }
            return now - meters.goneSinceNanos > FORGET_NANOS;
        });
    }
}
