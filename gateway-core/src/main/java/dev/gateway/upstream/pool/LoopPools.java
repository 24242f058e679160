package dev.gateway.upstream.pool;

import dev.gateway.net.dns.Resolver;
import dev.gateway.net.transport.Connector;
import dev.gateway.overload.memory.Account;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.stream.UpstreamObserver;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.stream.ClientPreamble;
import dev.gateway.upstream.stream.StreamKind;
import dev.gateway.upstream.stream.StreamOpener;
import io.netty.channel.EventLoop;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/** The upstream connections of one event loop. Confined to it. */
final class LoopPools implements StreamOpener {
    final LoopResources resources;
    private final IdentityHashMap<Upstream, LoopUpstream> upstreams = new IdentityHashMap<>();

    LoopPools(Connector connector, Resolver resolver, EventLoop loop, TimerWheel wheel, Account account) {
        this(connector, resolver, loop, wheel, LoopResources.RANDOM, account);
    }

    LoopPools(
            Connector connector,
            Resolver resolver,
            EventLoop loop,
            TimerWheel wheel,
            LongUnaryOperator random,
            Account account) {
        this.resources = new LoopResources(connector, resolver, loop, wheel, random, account, this::giveUpIdle);
    }

    /** Closes an idle connection, so that another one can be made; returns whether there was one. */
    private boolean giveUpIdle() {
        for (LoopUpstream each : upstreams.values()) {
            if (each.giveUpIdle()) {
                return true;
            }
        }
        return false;
    }

    void add(SharedUpstream shared, UpstreamObserver observer) {
        LoopUpstream added = new LoopUpstream(new UpstreamContext(resources, shared, observer));
        upstreams.put(shared.upstream, added);
        shared.add(added);
        added.onChoice(); // endpoints may have changed before it was registered
    }

    void retire(Upstream upstream) {
        LoopUpstream retired = upstreams.get(upstream);
        if (retired != null) {
            retired.retire();
        }
    }

    void remove(Upstream upstream) {
        LoopUpstream removed = upstreams.remove(upstream);
        if (removed != null) {
            removed.close();
        }
    }

    void keepOnly(Upstream upstream, Collection<Endpoint> endpoints) {
        LoopUpstream known = upstreams.get(upstream);
        if (known != null) {
            known.keepOnly(endpoints);
        }
    }

    void end(Upstream upstream, Collection<Host> gone) {
        LoopUpstream known = upstreams.get(upstream);
        if (known != null) {
            known.end(gone);
        }
    }

    PoolCounts counts(Upstream upstream) {
        LoopUpstream known = upstreams.get(upstream);
        return known == null ? PoolCounts.NONE : known.counts();
    }

    int promised(Upstream upstream) {
        LoopUpstream known = upstreams.get(upstream);
        return known == null ? 0 : known.promised();
    }

    /** Counts the pooled connections of all upstreams, by their endpoints. */
    Map<Host, PoolCounts> countsByEndpoint() {
        Map<Host, PoolCounts> counts = new HashMap<>();
        upstreams.values().forEach(known -> counts.putAll(known.countsByEndpoint()));
        return counts;
    }

    void drain(Upstream upstream, String endpoint, boolean drain) {
        LoopUpstream known = upstreams.get(upstream);
        if (known != null) {
            known.drain(endpoint, drain);
        }
    }

    LoopView view(Upstream upstream) {
        LoopUpstream known = upstreams.get(upstream);
        return known == null ? LoopView.NONE : known.view();
    }

    /** Counts endpoints that requests have named and that have kept connections. */
    int namedEndpoints(Upstream upstream) {
        LoopUpstream known = upstreams.get(upstream);
        return known == null ? 0 : known.namedEndpoints();
    }

    @Override
    public Opening open(
            Upstream upstream,
            Endpoint endpoint,
            StreamKind kind,
            @Nullable ClientPreamble preamble,
            ResponseEvents events,
            Callback callback) {
        LoopUpstream known = upstreams.get(upstream);
        if (known == null) {
            callback.onOpenFailed(Failure.of(Cause.DRAIN, "the upstream " + upstream + " has been removed"));
            return Opening.DONE;
        }
        return known.open(endpoint, kind, preamble, events, callback);
    }
}
