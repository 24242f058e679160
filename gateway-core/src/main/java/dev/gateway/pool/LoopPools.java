package dev.gateway.pool;

import dev.gateway.net.Resolver;
import dev.gateway.net.Transport;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.stream.UpstreamObserver;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Demand;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.StreamOpener;
import dev.gateway.upstream.Upstream;
import io.netty.channel.EventLoop;
import java.util.Collection;
import java.util.IdentityHashMap;

/** The upstream connections of one event loop. Confined to it. */
final class LoopPools implements StreamOpener {
    final Transport transport;
    final Resolver resolver;
    final EventLoop loop;
    final TimerWheel wheel;
    private final IdentityHashMap<Upstream, EndpointPool[]> pools = new IdentityHashMap<>();

    LoopPools(Transport transport, Resolver resolver, EventLoop loop, TimerWheel wheel) {
        this.transport = transport;
        this.resolver = resolver;
        this.loop = loop;
        this.wheel = wheel;
    }

    void add(SharedUpstream shared, UpstreamObserver observer) {
        pools.put(
                shared.upstream,
                shared.upstream.endpoints().stream()
                        .map(endpoint -> new EndpointPool(this, shared, endpoint, observer))
                        .toArray(EndpointPool[]::new));
    }

    void retire(Upstream upstream) {
        for (EndpointPool pool : of(upstream)) {
            pool.retire();
        }
    }

    void remove(Upstream upstream) {
        EndpointPool[] removed = of(upstream);
        pools.remove(upstream);
        for (EndpointPool pool : removed) {
            pool.close();
        }
    }

    void keepOnly(Upstream upstream, Collection<Endpoint> endpoints) {
        for (EndpointPool pool : of(upstream)) {
            if (endpoints.stream().noneMatch(pool.endpoint::isSameAddress)) {
                pool.close();
            }
        }
    }

    PoolCounts counts(Upstream upstream) {
        PoolCounts counts = PoolCounts.NONE;
        for (EndpointPool pool : of(upstream)) {
            counts = counts.plus(pool.counts());
        }
        return counts;
    }

    private EndpointPool[] of(Upstream upstream) {
        return pools.getOrDefault(upstream, new EndpointPool[0]);
    }

    @Override
    public Opening open(
            Upstream upstream,
            Endpoint endpoint,
            Demand demand,
            ConnectionInfo client,
            ResponseEvents events,
            Callback callback) {
        EndpointPool[] endpoints = pools.get(upstream);
        if (endpoints == null) {
            callback.onOpenFailed(Failure.of(Cause.DRAIN, "the upstream " + upstream + " has been removed"));
            return Opening.DONE;
        }
        return endpoints[endpoint.index()].open(events, callback);
    }
}
