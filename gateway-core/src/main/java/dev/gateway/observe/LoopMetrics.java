package dev.gateway.observe;

import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.UpstreamObserver;
import dev.gateway.time.TimerWheel;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The counters of one event loop. Its thread adds; {@link Metrics} reads from any. Counters are found by configured
 * names and live on over reloads, so that they never fall.
 */
public final class LoopMetrics implements ExchangeObserver {
    private final TimerWheel clock;
    private final Map<String, ListenerMeters> listeners = new ConcurrentHashMap<>();
    private final Map<String, UpstreamMeters> upstreams = new ConcurrentHashMap<>();
    private ListenerMeters lastListener = new ListenerMeters("");
    private UpstreamMeters lastUpstream = new UpstreamMeters();
    private String lastUpstreamName = "";

    private final LoopHealth health;

    LoopMetrics(TimerWheel clock, IntSupplier pendingTasks) {
        this.clock = clock;
        this.health = new LoopHealth(clock.loop(), pendingTasks);
    }

    LoopHealth health() {
        return health;
    }

    /** Returns what counts the connections of a listener on this loop; callable from any thread. */
    public ConnectionObserver listener(String name) {
        return listeners.computeIfAbsent(name, ListenerMeters::new);
    }

    /** Returns what counts the connections to an upstream on this loop; callable from any thread. */
    public UpstreamObserver upstream(String name) {
        return upstreamMeters(name);
    }

    private UpstreamMeters upstreamMeters(String name) {
        return upstreams.computeIfAbsent(name, n -> new UpstreamMeters());
    }

    Map<String, ListenerMeters> listeners() {
        return listeners;
    }

    Map<String, UpstreamMeters> upstreams() {
        return upstreams;
    }

    private ListenerMeters of(ExchangeRecord exchange) {
        String name = exchange.connection.listenerName();
        if (!name.equals(lastListener.name())) {
            lastListener = listeners.computeIfAbsent(name, ListenerMeters::new);
        }
        return lastListener;
    }

    private UpstreamMeters upstreamOf(ExchangeRecord exchange) {
        if (!exchange.upstream.equals(lastUpstreamName)) {
            lastUpstreamName = exchange.upstream;
            lastUpstream = upstreamMeters(lastUpstreamName);
        }
        return lastUpstream;
    }

    @Override
    public void onBegun(ExchangeRecord exchange) {
        of(exchange).begun();
    }

    @Override
    public void onAttemptBegun(ExchangeRecord exchange) {
        upstreamOf(exchange).attemptBegun();
    }

    @Override
    public void onAttemptEnded(ExchangeRecord exchange, int status, @Nullable Failure failure, boolean again) {
        long now = exchange.openedNanos != 0
                ? exchange.openedNanos // what a tunnel is used for is nothing of its upstream's speed
                : exchange.endNanos != 0 ? exchange.endNanos : clock.nanoTime();
        upstreamOf(exchange).attemptEnded(exchange, status, failure, again, now);
    }

    @Override
    public void onTunnelOpened(ExchangeRecord exchange) {
        of(exchange).tunnelOpened(exchange);
    }

    @Override
    public void onTunnelBytes(ExchangeRecord exchange, long received, long sent) {
        of(exchange).tunnels.bytes(exchange, received, sent);
    }

    @Override
    public void onCompleted(ExchangeRecord exchange) {
        of(exchange).completed(exchange);
    }
}
