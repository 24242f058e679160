package dev.gateway.observe.metrics;

import dev.gateway.observe.ConnectWaitResult;
import dev.gateway.observe.ExchangeObserver;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.SessionResult;
import dev.gateway.observe.counts.ByName;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.UpstreamObserver;
import dev.gateway.time.TimerWheel;
import java.util.Map;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The counters of one event loop. Its thread adds; {@link Metrics} reads from any. Counters are found by configured
 * names and live on over reloads, so that they never fall.
 */
public final class LoopMetrics implements ExchangeObserver {
    private final TimerWheel clock;
    private final ByName<ListenerMeters> listeners = new ByName<>(name -> new ListenerMeters());
    private final ByName<UpstreamMeters> upstreams = new ByName<>(name -> new UpstreamMeters());

    private final LoopLag lag;

    LoopMetrics(TimerWheel clock, IntSupplier pendingTasks) {
        this.clock = clock;
        this.lag = new LoopLag(clock.loop(), pendingTasks, System::nanoTime);
    }

    LoopLag lag() {
        return lag;
    }

    /** Returns what counts the connections of a listener on this loop; callable from any thread. */
    public ConnectionObserver listener(String name) {
        return listeners.get(name);
    }

    /** Returns what counts the connections to an upstream on this loop; callable from any thread. */
    public UpstreamObserver upstream(String name) {
        return upstreams.get(name);
    }

    Map<String, ListenerMeters> listeners() {
        return listeners.all();
    }

    Map<String, UpstreamMeters> upstreams() {
        return upstreams.all();
    }

    private ListenerMeters of(ExchangeRecord exchange) {
        return listeners.onLoop(exchange.connection.listenerName());
    }

    private UpstreamMeters upstreamOf(ExchangeRecord exchange) {
        return upstreams.onLoop(exchange.upstream);
    }

    @Override
    public void onBegun(ExchangeRecord exchange) {
        of(exchange).begun();
    }

    @Override
    public void onAttemptBegun(ExchangeRecord exchange) {
        upstreamOf(exchange).attemptBegun(exchange);
    }

    @Override
    public void onAttemptMoved(ExchangeRecord exchange) {
        upstreamOf(exchange).attemptMoved(exchange);
    }

    @Override
    public void onAttemptEnded(ExchangeRecord exchange, int status, @Nullable Failure failure, boolean again) {
        long now = exchange.openedNanos != 0
                ? exchange.openedNanos // what a tunnel is used for is nothing of its upstream's speed
                : exchange.endNanos != 0 ? exchange.endNanos : clock.nanoTime();
        upstreamOf(exchange).attemptEnded(exchange, status, failure, again, now);
    }

    @Override
    public void onConnectWait(ExchangeRecord exchange) {
        upstreamOf(exchange).onPending();
    }

    @Override
    public void onConnectWaitEnded(ExchangeRecord exchange, long nanos) {
        upstreamOf(exchange).onPendingEnded(nanos);
    }

    @Override
    public void onConnectWaited(ExchangeRecord exchange, ConnectWaitResult result) {
        upstreamOf(exchange).connectWaited(result);
    }

    @Override
    public void onHedgeOverBudget(ExchangeRecord exchange) {
        upstreamOf(exchange).hedgeOverBudget();
    }

    @Override
    public void onSession(ExchangeRecord exchange, SessionResult result) {
        upstreamOf(exchange).session(result);
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
