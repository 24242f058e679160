package dev.gateway.upstream.health;

import dev.gateway.stream.UpstreamObserver;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.stream.StreamOpener;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * Active health checks: checks the endpoints of all upstreams that have settings for it. All checks run on one event loop,
 * over the connections of its pools. Safe from any thread.
 */
public final class HealthChecks {
    private final StreamOpener opener;
    private final TimerWheel wheel;
    private final Function<Upstream, UpstreamObserver> observers;
    private final Map<Upstream, Map<Host, EndpointCheck>> running = new HashMap<>(); // confined to the loop

    /**
     * Makes it, without upstreams.
     *
     * @param opener opens streams on an event loop
     * @param wheel the timers of the same loop
     * @param observers return the observer that counts the answers of an upstream, on the same loop
     */
    public HealthChecks(StreamOpener opener, TimerWheel wheel, Function<Upstream, UpstreamObserver> observers) {
        this.opener = opener;
        this.wheel = wheel;
        this.observers = observers;
    }

    /** Begins to check the endpoints of an upstream, which the pools must know already. */
    public void start(Upstream upstream) {
        if (upstream.health().activeCheck() != null) {
            wheel.loop().execute(() -> startHere(upstream));
            upstream.health().onChoice(chosen -> wheel.loop().execute(() -> follow(upstream)));
        }
    }

    private void startHere(Upstream upstream) {
        running.put(upstream, new HashMap<>());
        follow(upstream);
    }

    /** Begins checks of new endpoints, and ends those of removed ones. */
    private void follow(Upstream upstream) {
        Map<Host, EndpointCheck> checks = running.get(upstream);
        if (checks == null) {
            return; // the upstream was stopped
        }
        Set<Host> present = Set.copyOf(upstream.hosts());
        checks.entrySet().removeIf(entry -> {
            boolean gone = !present.contains(entry.getKey());
            if (gone) {
                entry.getValue().stop();
            }
            return gone;
        });
        UpstreamObserver observer = observers.apply(upstream);
        for (Host host : present) {
            checks.computeIfAbsent(host, added -> start(upstream, added, observer));
        }
    }

    private EndpointCheck start(Upstream upstream, Host host, UpstreamObserver observer) {
        EndpointCheck check = new EndpointCheck(upstream, host.endpoint(), observer, opener, wheel);
        check.start();
        return check;
    }

    /** Ends the checks of an upstream. The last known state of its endpoints stays. */
    public void stop(Upstream upstream) {
        if (upstream.health().activeCheck() != null) {
            wheel.loop().execute(() -> stopHere(upstream));
        }
    }

    private void stopHere(Upstream upstream) {
        Map<Host, EndpointCheck> checks = running.remove(upstream);
        if (checks != null) {
            checks.values().forEach(EndpointCheck::stop);
        }
    }

    /** Ends all checks. */
    public void close() {
        wheel.loop().execute(() -> List.copyOf(running.keySet()).forEach(this::stopHere));
    }
}
