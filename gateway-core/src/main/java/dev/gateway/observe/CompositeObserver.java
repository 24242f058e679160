package dev.gateway.observe;

import dev.gateway.stream.Failure;
import org.jspecify.annotations.Nullable;

/** Composite observer: tells two others everything, in order. Confined to their event loop. */
public final class CompositeObserver implements ExchangeObserver {
    private final ExchangeObserver first;
    private final ExchangeObserver second;

    /** Makes it of two observers of the same event loop. */
    public CompositeObserver(ExchangeObserver first, ExchangeObserver second) {
        this.first = first;
        this.second = second;
    }

    @Override
    public void onBegun(ExchangeRecord exchange) {
        first.onBegun(exchange);
        second.onBegun(exchange);
    }

    @Override
    public void onAttemptBegun(ExchangeRecord exchange) {
        first.onAttemptBegun(exchange);
        second.onAttemptBegun(exchange);
    }

    @Override
    public void onAttemptMoved(ExchangeRecord exchange) {
        first.onAttemptMoved(exchange);
        second.onAttemptMoved(exchange);
    }

    @Override
    public void onAttemptEnded(ExchangeRecord exchange, int status, @Nullable Failure failure, boolean again) {
        first.onAttemptEnded(exchange, status, failure, again);
        second.onAttemptEnded(exchange, status, failure, again);
    }

    @Override
    public void onConnectWait(ExchangeRecord exchange) {
        first.onConnectWait(exchange);
        second.onConnectWait(exchange);
    }

    @Override
    public void onConnectWaitEnded(ExchangeRecord exchange, long nanos) {
        first.onConnectWaitEnded(exchange, nanos);
        second.onConnectWaitEnded(exchange, nanos);
    }

    @Override
    public void onConnectWaited(ExchangeRecord exchange, ConnectWaitResult result) {
        first.onConnectWaited(exchange, result);
        second.onConnectWaited(exchange, result);
    }

    @Override
    public void onHedgeOverBudget(ExchangeRecord exchange) {
        first.onHedgeOverBudget(exchange);
        second.onHedgeOverBudget(exchange);
    }

    @Override
    public void onSession(ExchangeRecord exchange, SessionResult result) {
        first.onSession(exchange, result);
        second.onSession(exchange, result);
    }

    @Override
    public void onTunnelOpened(ExchangeRecord exchange) {
        first.onTunnelOpened(exchange);
        second.onTunnelOpened(exchange);
    }

    @Override
    public void onTunnelBytes(ExchangeRecord exchange, long received, long sent) {
        first.onTunnelBytes(exchange, received, sent);
        second.onTunnelBytes(exchange, received, sent);
    }

    @Override
    public void onTunnelProgress(ExchangeRecord exchange) {
        first.onTunnelProgress(exchange);
        second.onTunnelProgress(exchange);
    }

    @Override
    public void onCompleted(ExchangeRecord exchange) {
        first.onCompleted(exchange);
        second.onCompleted(exchange);
    }
}
