package dev.gateway.exchange;

import dev.gateway.exchange.attempt.ConnectWaits;
import dev.gateway.exchange.attempt.EndpointChoice;
import dev.gateway.observe.ConnectWaitResult;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.limit.PendingLimit;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How one request waits until an endpoint can be reached: it leaves the queue of {@link ConnectWaits} for each try, and
 * returns until its time is over. It counts as a pending request of its upstream. Made for each series of failed connections
 * for which a request waits: an endpoint that was reached may be gone again before it answers.
 */
final class ConnectWait implements ConnectWaits.Waiting {
    private final ExchangeContext exchange;
    private final Upstream upstream;
    private final Attempts attempts;
    private final long beginNanos; // of its first attempt without a connection
    private final long mostMillis;
    private long untilNanos;
    private long sinceNanos; // when it has joined the queue
    private PendingLimit.@Nullable Place place; // while it waits
    private boolean tried; // it has tried to connect again
    private State state = State.NEW;

    private enum State {
        /** It has not waited yet. */
        NEW,
        WAITING,
        /** It tries to connect again. */
        TRYING,
        /** It has told how it has ended. */
        OVER
    }

    /**
     * Makes a wait that has not begun.
     *
     * @param beginNanos when its first attempt began for which no connection could be made
     * @param mostMillis how long it tries from then on
     */
    ConnectWait(ExchangeContext exchange, Upstream upstream, Attempts attempts, long beginNanos, long mostMillis) {
        this.exchange = exchange;
        this.upstream = upstream;
        this.attempts = attempts;
        this.beginNanos = beginNanos;
        this.mostMillis = mostMillis;
    }

    /** Whether it has waited already, in vain so far. */
    boolean isInVain() {
        return tried && state != State.OVER;
    }

    /**
     * Takes the right to wait. Then {@link #join} or {@link #end} must follow.
     *
     * @param leftMillis how much time the request has left
     * @return false if its time is over, no endpoint may come back in time, or too many wait
     */
    boolean tryBegin(long leftMillis) {
        long now = exchange.loop.wheel.nanoTime();
        long spent = TimeUnit.NANOSECONDS.toMillis(now - beginNanos);
        long left = Math.min(mostMillis - spent, leftMillis - Upstream.CONNECT_TURN_MILLIS); // to answer before the end
        if (state == State.OVER || left <= 0 || !EndpointChoice.isAnyHopeful(upstream, now, mostMillis)) {
            return false;
        }
        place = upstream.pendingRequests().tryTake(exchange.record.connection.culprit(), now, lost -> {});
        if (place == null) {
            tell(ConnectWaitResult.OVERFLOW);
            return false;
        }
        untilNanos = now + TimeUnit.MILLISECONDS.toNanos(left);
        sinceNanos = now;
        state = State.WAITING;
        exchange.loop.observer.onConnectWait(exchange.record);
        return true;
    }

    void join() {
        exchange.loop.connectWaits.add(upstream, this);
    }

    private void leave() {
        state = State.TRYING;
        tried = true;
        PendingLimit.Place had = place;
        if (had != null) {
            place = null;
            upstream.pendingRequests().release(had);
        }
        exchange.loop.observer.onConnectWaitEnded(exchange.record, exchange.loop.wheel.nanoTime() - sinceNanos);
    }

    /** Whether a client with fewer requests has got its place. */
    private boolean isDisplaced() {
        return place != null && upstream.pendingRequests().isLost(place);
    }

    @Override
    public long untilNanos() {
        return isDisplaced() ? exchange.loop.wheel.nanoTime() : untilNanos;
    }

    @Override
    public void onTurn() {
        leave();
        attempts.onConnectTurn();
    }

    @Override
    public void onTimeOver() {
        boolean displaced = isDisplaced();
        leave();
        if (displaced) {
            tell(ConnectWaitResult.OVERFLOW);
        }
        attempts.onConnectWaitOver();
    }

    /** The request has a connection: others that wait try, too. Returns whether that ends a wait. */
    boolean onConnected() {
        if (state != State.TRYING) {
            return false;
        }
        tell(ConnectWaitResult.SUCCESS);
        exchange.loop.connectWaits.onConnected(upstream);
        return true;
    }

    /** The request has ended; a second call has no effect. */
    void end() {
        if (state == State.WAITING) {
            exchange.loop.connectWaits.remove(upstream, this);
            leave();
        }
        if (state == State.TRYING) {
            tell(ConnectWaitResult.FAILURE);
        }
    }

    private void tell(ConnectWaitResult result) {
        state = State.OVER;
        exchange.loop.observer.onConnectWaited(exchange.record, result);
    }
}
