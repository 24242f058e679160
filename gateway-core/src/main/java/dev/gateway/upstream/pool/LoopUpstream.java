package dev.gateway.upstream.pool;

import dev.gateway.stream.Cause;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.LoginPins;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.stream.RetrySafety;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.dial.DialSettings;
import dev.gateway.upstream.stream.ClientPreamble;
import dev.gateway.upstream.stream.StreamKind;
import dev.gateway.upstream.stream.StreamOpener;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One event loop's connections of one upstream: a pool for each of its endpoints and for each endpoint that requests named
 * lately, and its tunnels. Confined to its loop.
 */
final class LoopUpstream implements SharedUpstream.Loop {
    /** Maximum number of pools for endpoints that requests named. Beyond it, the least recently used pool is dropped. */
    static final int MAX_NAMED = 256;

    private final UpstreamContext context;
    private final SharedUpstream shared;
    private final List<EndpointPool> pools = new ArrayList<>();
    private final Map<Host, EndpointPool> own = new HashMap<>();
    private final Siblings siblings;
    private final Map<DialTarget, EndpointPool> named = new LinkedHashMap<>(16, 0.75f, true);
    private final NamedPools byName;
    private final Map<Host, Tunnels> tunnels = new HashMap<>(); // an entry is made for the first tunnel
    private List<Host> followed = List.of(); // the endpoints that it has pools for
    private int checks; // number of connection checks so far
    private boolean retired;
    private boolean closed;

    LoopUpstream(UpstreamContext context) {
        this.context = context;
        this.shared = context.shared;
        this.byName = new NamedPools(shared.names);
        this.siblings = new Siblings(shared.permits, context.resources.random, this::pool);
        follow();
    }

    /** Makes a pool for each endpoint that the upstream has now, so that waiting requests can move there. */
    private void follow() {
        followed = shared.upstream.hosts();
        followed.forEach(this::pool);
    }

    private EndpointPool pool(Host host) {
        EndpointPool known = own.get(host);
        if (known == null) {
            DialTarget target = DialTarget.straight(host.endpoint());
            known = newPool(new EndpointContext(context, target, host, false));
            add(known);
            own.put(host, known);
            siblings.add(known);
        }
        return known;
    }

    private void add(EndpointPool pool) {
        pools.add(pool);
        Endpoint endpoint = pool.endpoint.target.endpoint();
        Host host = pool.endpoint.host;
        boolean drains = endpoint.index() != Endpoint.NAMED_INDEX
                && (host.isGone() || (shared.upstream.health().isDraining(endpoint) && !host.takesSessions()));
        if (retired || drains) {
            pool.kept.retireAll(CloseCause.DRAIN);
        }
    }

    StreamOpener.Opening open(
            Endpoint endpoint,
            StreamKind kind,
            @Nullable ClientPreamble preamble,
            ResponseEvents events,
            StreamOpener.Callback callback) {
        if (kind == StreamKind.CONNECTION_CHECK) {
            ConnectionCheck check = new ConnectionCheck(context, DialTarget.straight(endpoint), events, callback);
            check.start(checks++);
            return check;
        }
        if (endpoint.index() != Endpoint.NAMED_INDEX) {
            LoginPins logins = kind == StreamKind.CHECK || kind == StreamKind.TUNNEL ? null : callback.logins();
            String name = shared.settings.followsHost() ? callback.serverName() : null;
            if (logins != null
                    && !logins.isEmpty()
                    && logins.find(new LoginPins.Place(shared, name)) instanceof Http1Pooled pinned
                    && pinned.reopen(endpoint, events, callback)) {
                return StreamOpener.Opening.DONE;
            }
            Host host = shared.upstream.host(endpoint);
            if (!host.isGone()) {
                return open(host, kind, preamble, events, callback);
            }
            shared.upstream.hosts().forEach(this::pool); // this loop may not know new endpoints yet
            EndpointPool instead = kind == StreamKind.CHECK ? null : siblings.instead(callback);
            if (instead == null) {
                callback.onOpenFailed(Failure.of(Cause.DRAIN, RetrySafety.ALWAYS, endpoint + " has been removed"));
                return StreamOpener.Opening.DONE;
            }
            callback.onMoved(instead.endpoint.target.endpoint());
            return open(instead.endpoint.host, kind, preamble, events, callback);
        }
        DialSettings dialSettings = shared.settings.dialSettings();
        DialTarget target = DialTarget.to(endpoint, kind, dialSettings.parents());
        String refusal = target.parent() == null ? null : dialSettings.refuseByParent(endpoint.host(), endpoint.port());
        if (refusal != null) {
            callback.onOpenFailed(DialFailure.of(Cause.POLICY_ADDRESS, endpoint + ": " + refusal));
            return StreamOpener.Opening.DONE;
        }
        return kind == StreamKind.TUNNEL
                ? tunnels(shared.upstream.host(endpoint)).open(target, preamble, events, callback)
                : named(target).open(kind, events, callback);
    }

    private StreamOpener.Opening open(
            Host host,
            StreamKind kind,
            @Nullable ClientPreamble preamble,
            ResponseEvents events,
            StreamOpener.Callback callback) {
        if (kind != StreamKind.TUNNEL) {
            String name = shared.settings.followsHost() ? callback.serverName() : null;
            return name == null ? pool(host).open(kind, events, callback) : openFor(name, host, kind, events, callback);
        }
        Host free = host.isSpare() && callback.takesEjected() ? host : siblings.withRoom(host, callback);
        if (free != host) {
            callback.onMoved(free.endpoint());
        }
        return tunnels(free).open(DialTarget.straight(free.endpoint()), preamble, events, callback);
    }

    /** Opens a stream on a connection that has asked for this name. */
    private StreamOpener.Opening openFor(
            String name, Host host, StreamKind kind, ResponseEvents events, StreamOpener.Callback callback) {
        StreamOpener.Opening begun = tryOpenFor(name, host, kind, events, callback);
        if (begun != null) {
            return begun;
        }
        NameWait wait =
                new NameWait(this, shared.loopsBut(this), () -> tryOpenFor(name, host, kind, events, callback), () -> {
                    context.observer.onPendingOverflow();
                    callback.onOpenFailed(PendingRequests.noRetry(
                            Cause.PENDING_OVERFLOW,
                            "requests to " + shared.upstream + " have " + ServerNames.MOST
                                    + " server names, which is the most at a time"));
                });
        wait.askNext();
        return wait;
    }

    /** Does so, if there is room for the name; else returns null. */
    private StreamOpener.@Nullable Opening tryOpenFor(
            String name, Host host, StreamKind kind, ResponseEvents events, StreamOpener.Callback callback) {
        if (closed || host.isGone()) { // while it waited for the name
            callback.onOpenFailed(Failure.of(Cause.DRAIN, RetrySafety.ALWAYS, host.endpoint() + " has been removed"));
            return StreamOpener.Opening.DONE;
        }
        EndpointPool pool = byName.find(host, name);
        if (pool == null) {
            if (!byName.tryTake(name)) {
                return null;
            }
            DialTarget target = DialTarget.named(host.endpoint(), name);
            pool = newPool(new EndpointContext(context, target, host, false));
            add(pool);
            byName.add(name, pool);
        }
        StreamOpener.Opening begun = pool.open(kind, events, callback);
        pool.checkEmpty();
        return begun;
    }

    @Override
    public boolean giveUpName() {
        return byName.giveUp();
    }

    /** Returns the tunnels to an endpoint, or the tunnels to all endpoints that requests name. */
    private Tunnels tunnels(Host host) {
        return tunnels.computeIfAbsent(host, unknown -> new Tunnels(context, host, siblings, this::tunnels));
    }

    private PoolCounts tunnelCounts() {
        return tunnels.values().stream().map(Tunnels::counts).reduce(PoolCounts.NONE, PoolCounts::plus);
    }

    private EndpointPool named(DialTarget target) {
        EndpointPool pool = named.get(target);
        if (pool == null) {
            if (named.size() == MAX_NAMED) {
                EndpointPool eldest = named.values().iterator().next();
                named.remove(eldest.endpoint.target);
                eldest.kept.retireAll(CloseCause.LIMIT); // closes its connections as soon as they are idle
            }
            pool = newPool(new EndpointContext(context, target, false));
            add(pool);
            named.put(target, pool);
        }
        return pool;
    }

    /** Closes connections to an endpoint as soon as they are idle, or keeps them again. */
    void drain(String address, boolean drain) {
        for (EndpointPool pool : List.copyOf(pools)) {
            if (pool.endpoint.target.endpoint().index() != Endpoint.NAMED_INDEX
                    && pool.endpoint.target.endpoint().toString().equals(address)) {
                if (drain) {
                    pool.kept.retireAll(CloseCause.DRAIN);
                } else if (!retired && !pool.endpoint.host.isGone()) {
                    pool.kept.restore();
                }
            }
        }
    }

    /** Returns what the admin listener shows of this. */
    LoopView view() {
        Map<Endpoint, LoopView.EndpointView> own = new LinkedHashMap<>();
        PoolCounts others = PoolCounts.NONE;
        for (EndpointPool pool : pools) {
            if (pool.endpoint.target.endpoint().index() == Endpoint.NAMED_INDEX) {
                others = others.plus(pool.counts());
            } else if (!pool.endpoint.host.isGone()) {
                LoopView.EndpointView before = own.get(pool.endpoint.target.endpoint());
                PoolCounts counts =
                        before == null ? pool.counts() : before.counts().plus(pool.counts());
                HttpVersion learned = before == null ? pool.known() : before.learned();
                own.put(
                        pool.endpoint.target.endpoint(),
                        new LoopView.EndpointView(
                                pool.endpoint.target.endpoint(), learned, pool.idleTimeout(), counts));
            }
        }
        return new LoopView(List.copyOf(own.values()), named.size(), others, tunnelCounts());
    }

    private EndpointPool newPool(EndpointContext endpoint) {
        return new EndpointPool(endpoint, siblings, this::addHttp1, this::onEmpty);
    }

    private EndpointPool addHttp1(EndpointContext like) {
        EndpointPool pool = newPool(new EndpointContext(context, like.target, like.host, true));
        add(pool);
        String name = like.target.name();
        if (name != null) {
            byName.add(name, pool);
        }
        return pool;
    }

    /** Closes an idle connection, so that another one can be made; returns whether there was one. */
    boolean giveUpIdle() {
        for (EndpointPool pool : pools) {
            if (pool.kept.giveUpIdle()) {
                return true;
            }
        }
        return false;
    }

    private void onEmpty(EndpointPool pool) {
        String name = pool.endpoint.target.name();
        if (name != null) {
            byName.remove(name, pool);
        } else if (pool.endpoint.target.endpoint().index() == Endpoint.NAMED_INDEX) {
            named.remove(pool.endpoint.target, pool);
        } else if (pool.endpoint.host.isGone()) {
            own.remove(pool.endpoint.host, pool);
            siblings.remove(pool);
        } else {
            return;
        }
        pools.remove(pool);
        pool.onRemoved();
    }

    @Override
    public void onHttp2Known() {
        List.copyOf(pools).forEach(EndpointPool::onHttp2Known);
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // each set of endpoints has one list object
    public void onChoice() {
        if (followed == shared.upstream.hosts()) {
            siblings.onChoice();
            return;
        }
        follow();
        List<EndpointPool> gone =
                pools.stream().filter(pool -> pool.endpoint.host.isGone()).toList();
        gone.forEach(pool -> pool.kept.retireAll(CloseCause.ADDRESS));
        siblings.onChoice();
        gone.forEach(EndpointPool::checkEmpty);
        tunnels.values().removeIf(Tunnels::isOver);
    }

    @Override
    public void onUnresponsive(Host host, String why) {
        for (EndpointPool pool : List.copyOf(pools)) {
            if (pool.endpoint.host == host) {
                pool.kept.tellUnresponsive(why);
            }
        }
    }

    @Override
    public void onSilent(Endpoint endpoint, long sinceNanos) {
        for (EndpointPool pool : List.copyOf(pools)) {
            if (pool.endpoint.target.endpoint().equals(endpoint)) {
                pool.kept.retireIdleSince(sinceNanos);
            }
        }
    }

    /** Closes all connections and tunnels to removed endpoints at once. */
    void end(Collection<Host> gone) {
        for (EndpointPool pool : List.copyOf(pools)) {
            if (gone.contains(pool.endpoint.host)) {
                pool.close();
            }
        }
        gone.forEach(host -> {
            Tunnels left = tunnels.remove(host);
            if (left != null) {
                left.close();
            }
        });
    }

    @Override
    public EventLoop loop() {
        return context.resources.loop;
    }

    @Override
    public int giveUp(int wanted) {
        int given = 0;
        for (EndpointPool pool : List.copyOf(pools)) {
            while (given < wanted && pool.kept.giveUpOne()) {
                given++;
            }
        }
        return given;
    }

    /** Closes connections and tunnels to endpoints of other addresses than these; not to endpoints that requests named. */
    void keepOnly(Collection<Endpoint> endpoints) {
        Predicate<Endpoint> gone = endpoint ->
                endpoint.index() != Endpoint.NAMED_INDEX && endpoints.stream().noneMatch(endpoint::isSameAddress);
        for (EndpointPool pool : List.copyOf(pools)) {
            if (gone.test(pool.endpoint.target.endpoint())) {
                pool.close();
            }
        }
        tunnels.values().forEach(each -> each.close(gone));
    }

    void retire() {
        retired = true;
        List.copyOf(pools).forEach(pool -> pool.kept.retireAll(CloseCause.DRAIN));
    }

    void close() {
        closed = true;
        List.copyOf(pools).forEach(EndpointPool::close);
        tunnels.values().forEach(Tunnels::close);
    }

    int namedEndpoints() {
        return named.size();
    }

    /** Counts pooled connections by endpoint, without endpoints that requests named and removed ones. */
    Map<Host, PoolCounts> countsByEndpoint() {
        Map<Host, PoolCounts> counts = new HashMap<>();
        for (EndpointPool pool : pools) {
            Host host = pool.endpoint.host;
            if (host.endpoint().index() != Endpoint.NAMED_INDEX && !host.isGone()) {
                counts.merge(host, pool.counts(), PoolCounts::plus);
            }
        }
        return counts;
    }

    /** Returns how many of the requests that wait for a permit will be served by connections that are being made. */
    int promised() {
        return pools.stream().mapToInt(pool -> pool.pending.promised()).sum();
    }

    PoolCounts counts() {
        PoolCounts counts = tunnelCounts();
        for (EndpointPool pool : pools) {
            counts = counts.plus(pool.counts());
        }
        return counts;
    }
}
