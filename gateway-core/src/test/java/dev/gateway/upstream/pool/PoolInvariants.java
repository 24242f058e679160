package dev.gateway.upstream.pool;

import dev.gateway.stream.Failure;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.limit.Share;
import dev.gateway.upstream.stream.StreamKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What must hold at any time in a schedule of {@link PoolModel}, when all loops rest, and in the end. */
final class PoolInvariants {
    private static final long MOMENT_NANOS = 40_000_000;

    private final PoolModel model;
    private final List<ModelUpstream> removed = new ArrayList<>();

    PoolInvariants(PoolModel model) {
        this.model = model;
    }

    /** Fails unless something holds; says what that is, in parts that are joined if it fails. */
    private static void require(boolean holds, Object... what) {
        if (!holds) {
            throw new AssertionError(Arrays.stream(what).map(String::valueOf).collect(Collectors.joining()));
        }
    }

    private static void requireEqual(int actual, int expected, String what, Object of) {
        require(actual == expected, what, " of ", of, ": ", actual, ", not ", expected);
    }

    void onRemoved(ModelUpstream upstream) {
        removed.add(upstream);
    }

    // At any time

    void check() {
        model.forgetFinished();
        require(model.violations.isEmpty(), model.violations);
        require(!model.network.isAskedLate(), "a connection was used after its server had said that it takes no more");
        model.upstreams.forEach(this::check);
    }

    private void check(ModelUpstream of) {
        int counted = 0;
        int pending = 0;
        for (int i = 0; i < model.loops.size(); i++) {
            PoolCounts counts = model.perLoop.get(i).counts(of.upstream);
            ModelUpstream.Gauges gauges = of.gauges.get(i);
            int waiting = 0;
            int tunnels = 0;
            for (ModelRequest each : model.unfinished) {
                if (each.upstream == of && each.loop == i) {
                    counted += each.kind == StreamKind.CONNECTION_CHECK ? 0 : 1;
                    waiting += each.isPending() ? 1 : 0;
                    tunnels += each.kind == StreamKind.TUNNEL ? 1 : 0;
                }
            }
            requireEqual(gauges.pending, waiting, "requests that wait in metrics", of);
            requireEqual(gauges.connections, counts.idle() + counts.active(), "connections in metrics", of);
            require(gauges.idle >= 0 && gauges.idle <= gauges.connections, gauges.idle, " idle of ", of);
            require(tunnels > 0 || counts.pending() == waiting, counts, " for ", waiting, " who wait of ", of);
            pending += counts.pending();
        }
        requireEqual(of.upstream.requests().taken(), counted, "requests in flight", of);
        int forPermits = of.upstream.pendingRequests().taken();
        int most = model.settings.limits().maxPendingRequests();
        require(forPermits >= 0 && forPermits <= pending, forPermits, " of ", pending, " wait for permits");
        require(most == 0 || forPermits <= most, forPermits, " wait for permits, ", most, " may");
        // Where connections of HTTP/2 wait for a file descriptor, it is not known which are beyond the limit.
        boolean known = !model.http2 || model.descriptors.upstreams().max() == Integer.MAX_VALUE;
        require(!known || !of.connections.isBroken(), "connections of ", of, ": ", of.connections);
        require(!of.requests.isBroken(), "requests of ", of, ": ", of.requests);
        for (Host host : of.upstream.hosts()) {
            require(host.connections().taken() >= 0, "connections of ", host);
            require(host.requests().taken() >= 0, "requests of ", host);
            require(!host.isGone(), host, " has gone and is there");
        }
    }

    /**
     * A connection begins, within a call of the code under test. The limit does not count for the first one of HTTP/2 that a
     * loop makes to an endpoint: requests could wait for ever for another loop's.
     */
    void onBegun(ModelSocket socket) {
        if (!model.http2) {
            return;
        }
        int loop = model.loops.indexOf(socket.loop);
        for (ModelUpstream of : model.upstreams) {
            for (LoopView.EndpointView each :
                    model.perLoop.get(loop).view(of.upstream).endpoints()) {
                if (each.endpoint().host().equals(socket.address.getHostString())
                        && each.counts().connecting() == 1) {
                    of.connections.allowOneBeyond();
                }
            }
        }
    }

    /** A request has a stream: nobody has waited for longer for the same, at the same endpoint. */
    void checkTurn(ModelRequest request) {
        for (ModelRequest each : model.unfinished) {
            if (each.isInLineBefore(request)) {
                model.violation(request + " overtakes " + each);
            }
        }
    }

    /** Whether a request may have failed so; called by the request, while nothing else happens. */
    void checkFailure(ModelRequest request, Failure failure) {
        @Nullable
        String problem =
                switch (failure.cause()) {
                    case PENDING_OVERFLOW -> {
                        boolean inFlight = failure.detail().contains("in flight");
                        request.upstream.full |= inFlight;
                        yield inFlight ? overflow(request) : pendingOverflow(request);
                    }
                    case PENDING_TIMEOUT -> pendingTimeout(request);
                    case DRAIN -> {
                        ModelUpstream of = request.upstream;
                        boolean drains = of.removed || of.cut || !of.former.isEmpty();
                        yield drains ? null : "nothing was removed";
                    }
                    case OVERLOAD ->
                        model.descriptors.upstreams().max() == Integer.MAX_VALUE ? "nothing is short" : null;
                    case CONNECT_FAILED,
                            CONNECT_TIMEOUT,
                            UPSTREAM_RESET_BEFORE_HEADERS,
                            UPSTREAM_RESET_IN_BODY,
                            UPSTREAM_PROTOCOL_ERROR -> null;
                    default -> "no schedule explains that";
                };
        if (problem != null) {
            model.violation(request + " failed with " + failure + ": " + problem);
        }
    }

    private @Nullable String overflow(ModelRequest request) {
        Upstream upstream = request.upstream.upstream;
        if (model.settings.limits().maxRequests() == 0) {
            return "there is no limit";
        }
        Host asked = upstream.host(request.endpoint());
        if (!asked.isGone() && asked.requests().hasRoom()) {
            return "its endpoint has room";
        }
        if (request.kind == StreamKind.TUNNEL || model.named) {
            return null;
        }
        boolean behind = model.loops.get(request.loop).isBehind(); // it may not know of all endpoints
        boolean room = request.upstream.chosen().stream()
                .anyMatch(host -> host.requests().hasRoom());
        return room && !behind ? "another endpoint has room" : null;
    }

    private @Nullable String pendingOverflow(ModelRequest request) {
        int most = model.settings.limits().maxPendingRequests();
        int now = request.upstream.upstream.pendingRequests().taken();
        return most == 0 || (now < most && !request.mayLosePlace()) ? now + " of " + most + " wait" : null;
    }

    private @Nullable String pendingTimeout(ModelRequest request) {
        long most = model.settings.poolAcquireMillis();
        long waited = (model.now() - request.sinceNanos) / 1_000_000;
        return most == 0 || waited < most ? "it has waited for " + waited + " ms" : null;
    }

    // When all loops have done what there was to do

    void checkAtRest() {
        check();
        model.upstreams.forEach(this::checkAtRest);
    }

    private void checkAtRest(ModelUpstream of) {
        int connections = 0;
        int idle = 0;
        for (LoopPools each : model.perLoop) {
            PoolCounts counts = each.counts(of.upstream);
            connections += counts.idle() + counts.active() + counts.connecting();
            idle += counts.idle();
        }
        // Connections for checks are made with a permit or without, and count as others do once they are made. One that
        // the
        // endpoint may be closing right now is closed a moment after its check has ended.
        int openChecks = (int) of.checksEndedNanos.stream()
                .filter(ended -> model.now() - ended < MOMENT_NANOS)
                .count();
        int newChecks = 0;
        for (ModelRequest each : model.unfinished) {
            if (each.upstream == of && each.kind == StreamKind.CHECK) {
                openChecks += each.isOpen() ? 1 : 0;
                newChecks += each.isWaiting() ? 1 : 0;
            }
        }
        int taken = of.upstream.connections().taken();
        require(
                taken >= connections - openChecks && taken <= connections + newChecks,
                taken,
                " permits of ",
                of,
                " for ",
                connections,
                " connections, and for checks that are open or not ",
                openChecks,
                " and ",
                newChecks);
        require(!of.retired || idle == 0, of, " was replaced and keeps ", idle, " idle connections");
        List<Loop> loops = new ArrayList<>();
        for (int i = 0; i < model.loops.size(); i++) {
            loops.add(new Loop(of, i));
        }
        loops.forEach(each -> each.check(loops));
    }

    /** What one loop has of an upstream. */
    private final class Loop {
        private final ModelUpstream of;
        private final int number;
        private final LoopView view;
        private final Set<Host> idle = new LinkedHashSet<>();
        private final List<Need> needs = new ArrayList<>();

        Loop(ModelUpstream of, int number) {
            this.of = of;
            this.number = number;
            this.view = model.perLoop.get(number).view(of.upstream);
            PoolCounts left = model.perLoop.get(number).counts(of.upstream);
            for (LoopView.EndpointView each : view.endpoints()) {
                add(of.upstream.host(each.endpoint()), each.counts());
                left = minus(left, each.counts());
            }
            if (model.named) {
                add(of.named(), view.toNamed());
                left = minus(left, view.toNamed());
            }
            if (view.tunnels().pending() > 0) {
                needs.add(new Need(null, true));
            }
            left = minus(left, view.tunnels());
            if (left.pending() > expected(left)) {
                needs.add(new Need(null, false)); // at endpoints that have gone
            }
        }

        private static PoolCounts minus(PoolCounts all, PoolCounts some) {
            return new PoolCounts(
                    all.idle() - some.idle(),
                    all.active() - some.active(),
                    all.connecting() - some.connecting(),
                    all.pending() - some.pending());
        }

        private void add(Host host, PoolCounts counts) {
            if (counts.idle() > 0) {
                idle.add(host);
            }
            if (counts.pending() > expected(counts)) {
                needs.add(new Need(host, false));
            }
            if (!model.named) {
                checkPool(host, counts);
            }
        }

        /** Returns how many of those who wait will be served by connections that are being made. */
        private int expected(PoolCounts counts) {
            return model.http2 && counts.connecting() > 0 ? counts.pending() : counts.connecting();
        }

        private void checkPool(Host host, PoolCounts counts) {
            boolean waits = counts.pending() > 0;
            boolean hasNone = counts.connecting() + counts.idle() + counts.active() == 0;
            boolean drains = of.toldDrained.contains(host.toString());
            require(!waits || counts.idle() == 0 || model.http2, "nobody uses what is idle: ", host, counts, of);
            require(!waits || !hasNone || !model.http2, "nothing is being made: ", host, counts, of);
            require(!waits || !hasStreams(host), "nobody uses streams that there are: ", host, counts, of);
            require(counts.idle() == 0 || !drains, "what drains is kept: ", host, counts, of);
        }

        /** Whether some connection of HTTP/2 to an endpoint is known to take another request. */
        private boolean hasStreams(Host host) {
            return model.http2
                    && model.upstreams.size() == 1
                    && removed.isEmpty()
                    && model.settings.maxLifetimeMillis() == 0
                    && !of.odd.contains(host.endpoint().host())
                    && model.sockets.stream()
                            .anyMatch(socket -> socket.isActive()
                                    && socket.loop == model.loops.get(number)
                                    && socket.address
                                            .getHostString()
                                            .equals(host.endpoint().host())
                                    && socket.server.hasRoom());
        }

        void check(List<Loop> all) {
            for (Need need : needs) {
                for (Host host : need.usable()) {
                    require(!host.connections().hasRoom(), need, " though there is a permit for ", host);
                    // Room for a request is noticed where one ends, so a stream elsewhere may stay free for a while.
                    boolean served =
                            need.isForStream() && !of.full && host.requests().hasRoom() && hasStreams(host);
                    require(!served, need, " though there is a stream for ", host);
                }
                for (Loop each : all) {
                    for (Host host : each.idle) {
                        boolean wanted = need.usable().contains(host)
                                || host.connections().isBeyondKept();
                        require(!wanted, need, " though loop ", each.number, " has one idle for ", host);
                    }
                }
            }
        }

        /** Somebody who waits for a permit. */
        private final class Need {
            private final @Nullable Host at; // null if it is not known, or has gone
            private final boolean tunnel;

            Need(@Nullable Host at, boolean tunnel) {
                this.at = at;
                this.tunnel = tunnel;
            }

            /** Whether a stream will do: not for a tunnel, nor for an upgrade, which no server here takes. */
            boolean isForStream() {
                return !tunnel
                        && model.unfinished.stream()
                                .anyMatch(each -> each.upstream == of
                                        && each.loop == number
                                        && each.isWaiting()
                                        && each.kind == StreamKind.EXCHANGE
                                        && (at == null || at.endpoint().isSameAddress(each.endpoint())));
            }

            /** Returns for which endpoints a permit is of use. */
            Set<Host> usable() {
                if (model.named) {
                    return Set.of(of.named());
                }
                Set<Host> usable = new LinkedHashSet<>(of.chosen());
                if (at != null && at.isUsed()) {
                    usable.add(at);
                }
                return usable;
            }

            @Override
            public String toString() {
                return "somebody waits for a permit of " + of + " on loop " + number + " at " + at + ", " + view;
            }
        }
    }

    // In the end

    /** Everything was answered or given up. */
    void checkUnused() {
        for (ModelUpstream each : model.upstreams) {
            requireEqual(each.upstream.requests().taken(), 0, "requests in flight", each);
            requireEqual(each.upstream.pendingRequests().taken(), 0, "requests that wait for permits", each);
            for (LoopPools pools : model.perLoop) {
                requireEqual(pools.counts(each.upstream).pending(), 0, "requests that wait", each);
            }
        }
        require(model.unfinished.isEmpty(), "without an answer: ", model.unfinished);
    }

    /** All connections are closed and all endpoints are in service: as much is free as there may be. */
    void checkPermits() {
        for (ModelUpstream each : model.upstreams) {
            requireEqual(each.upstream.connections().taken(), 0, "permits", each);
            if (!each.cut) {
                checkFree(each, model.settings.limits().maxConnections(), Host::connections);
                checkFree(each, model.settings.limits().maxRequests(), Host::requests);
            }
        }
    }

    private void checkFree(ModelUpstream of, int max, Function<Host, Share> part) {
        List<Host> hosts = model.named ? List.of(of.named()) : of.upstream.hosts();
        if (max == 0 || hosts.isEmpty()) {
            return;
        }
        hosts.forEach(host -> require(model.named || host.isChosen(), host, " is out of service"));
        List<Host> taken = new ArrayList<>();
        boolean more = true;
        while (more && taken.size() <= max) {
            more = false;
            for (Host host : hosts) {
                if (part.apply(host).tryAcquire()) {
                    taken.add(host);
                    more = true;
                }
            }
        }
        taken.forEach(host -> part.apply(host).release());
        requireEqual(taken.size(), max, "free of a limit", of);
    }

    /** All upstreams were removed. */
    void checkNothingLeft() {
        require(model.violations.isEmpty(), model.violations);
        requireEqual(model.sockets.size(), 0, "connections left", "all");
        requireEqual(model.descriptors.upstreams().taken(), 0, "file descriptors left", "all");
        require(!model.descriptors.upstreams().isAwaited(), "somebody waits for a file descriptor");
        for (ModelUpstream each : removed) {
            requireEqual(each.upstream.connections().taken(), 0, "permits left", each);
            requireEqual(each.upstream.requests().taken(), 0, "requests left", each);
            requireEqual(each.upstream.pendingRequests().taken(), 0, "waits left", each);
            for (ModelUpstream.Gauges gauges : each.gauges) {
                requireEqual(gauges.connections, 0, "connections in metrics", each);
                requireEqual(gauges.idle, 0, "idle connections in metrics", each);
                requireEqual(gauges.pending, 0, "requests that wait in metrics", each);
            }
        }
        for (PoolCounts counts : counts()) {
            require(counts.equals(PoolCounts.NONE), "left: ", counts);
        }
    }

    private List<PoolCounts> counts() {
        List<PoolCounts> counts = new ArrayList<>();
        for (LoopPools each : model.perLoop) {
            Map<Host, PoolCounts> left = each.countsByEndpoint();
            counts.addAll(left.values());
        }
        return counts;
    }
}
