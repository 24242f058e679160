package dev.gateway.health;

import dev.gateway.stream.UpstreamObserver;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.StreamOpener;
import dev.gateway.upstream.Upstream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Active health checks. Asks endpoints of upstreams whether they are well, if their health has a policy for that: all of
 * them on one event loop, over the connections of its pools. Safe from any thread.
 */
public final class HealthChecks {
    private final StreamOpener opener;
    private final TimerWheel wheel;
    private final Function<Upstream, UpstreamObserver> observers;
    private final Map<Upstream, List<EndpointCheck>> running = new HashMap<>(); // confined to the loop

    /**
     * Makes it, with nothing to ask.
     *
     * @param opener opens streams on an event loop
     * @param wheel the timers of the same loop
     * @param observers find who counts answers, on the same loop
     */
    public HealthChecks(StreamOpener opener, TimerWheel wheel, Function<Upstream, UpstreamObserver> observers) {
        this.opener = opener;
        this.wheel = wheel;
        this.observers = observers;
    }

    /** Begins to ask the endpoints of an upstream that pools know. */
    public void start(Upstream upstream) {
        if (upstream.health().activeCheck() != null) {
            wheel.loop().execute(() -> startHere(upstream));
        }
    }

    private void startHere(Upstream upstream) {
        UpstreamObserver observer = observers.apply(upstream);
        List<EndpointCheck> checks = upstream.endpoints().stream()
                .map(endpoint -> new EndpointCheck(upstream, endpoint, observer, opener, wheel))
                .toList();
        running.put(upstream, checks);
        checks.forEach(EndpointCheck::start);
    }

    /** Asks no more; nothing changes what is known of the endpoints. */
    public void stop(Upstream upstream) {
        if (upstream.health().activeCheck() != null) {
            wheel.loop().execute(() -> stopHere(upstream));
        }
    }

    private void stopHere(Upstream upstream) {
        List<EndpointCheck> checks = running.remove(upstream);
        if (checks != null) {
            checks.forEach(EndpointCheck::stop);
        }
    }

    /** Asks nobody any more. */
    public void close() {
        wheel.loop().execute(() -> List.copyOf(running.keySet()).forEach(this::stopHere));
    }
}
