package dev.gateway.exchange.attempt;

import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Upstream;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The requests of one event loop that wait until an endpoint of their upstream can be reached. At each turn, one of them
 * tries for all: a request that waits costs the endpoint nothing. When an endpoint can be reached, all try. The event loops
 * share the turns of an upstream. Confined to its event loop.
 */
public final class ConnectWaits {
    private final TimerWheel wheel;
    private final Map<Upstream, Queue> queues = new HashMap<>(); // of upstreams that somebody waits for

    /** A request that waits. It has left the queue when it is called. */
    public interface Waiting {
        /** Returns when its time is over. */
        long untilNanos();

        /** It may try to connect. If that fails, it may wait again. */
        void onTurn();

        /** Its time is over. */
        void onTimeOver();
    }

    /** Makes the queues of an event loop. */
    public ConnectWaits(TimerWheel wheel) {
        this.wheel = wheel;
    }

    /** A request waits from now on. */
    public void add(Upstream upstream, Waiting request) {
        queues.computeIfAbsent(upstream, Queue::new).add(request);
    }

    /** The request waits no more. */
    public void remove(Upstream upstream, Waiting request) {
        Queue queue = queues.get(upstream);
        if (queue != null) {
            queue.remove(request);
        }
    }

    /** An endpoint of the upstream can be reached: all that wait for it try at once. */
    public void onConnected(Upstream upstream) {
        Queue queue = queues.get(upstream);
        if (queue != null) {
            queue.releaseAll();
        }
    }

    private final class Queue extends Timer {
        private final Upstream upstream;
        private boolean releasing;
        private final Set<Waiting> waiting = new LinkedHashSet<>(); // who has tried last is the last one

        Queue(Upstream upstream) {
            this.upstream = upstream;
        }

        void add(Waiting request) {
            waiting.add(request);
            if (!isArmed()) {
                wheel.arm(this, Upstream.CONNECT_TURN_MILLIS);
            }
        }

        void remove(Waiting request) {
            if (waiting.remove(request)) {
                endIfEmpty();
            }
        }

        private void endIfEmpty() {
            if (waiting.isEmpty()) {
                cancel();
                queues.remove(upstream, this);
            }
        }

        @Override
        protected void onExpired() {
            if (EndpointChoice.isWorthTrying(upstream)) { // another event loop has found out, or a check
                releaseAll();
                return;
            }
            long now = wheel.nanoTime();
            for (Waiting each : List.copyOf(waiting)) {
                if (each.untilNanos() - now <= 0 && waiting.remove(each)) {
                    each.onTimeOver();
                }
            }
            if (!waiting.isEmpty()) {
                wheel.arm(
                        this,
                        Upstream.CONNECT_TURN_MILLIS); // first: the request that tries may wait again when it returns
                takeTurn(now);
            }
            endIfEmpty();
        }

        private void takeTurn(long now) {
            if (upstream.takeConnectTurn(now)) {
                Waiting first = waiting.iterator().next();
                waiting.remove(first);
                first.onTurn();
            }
        }

        private void releaseAll() {
            if (releasing) {
                return; // one that tries has a connection at once, and a caller lets the others try
            }
            releasing = true;
            try {
                for (Waiting each : List.copyOf(waiting)) {
                    if (waiting.remove(each)) { // it may have ended meanwhile, because of another one
                        each.onTurn();
                    }
                }
            } finally {
                releasing = false;
            }
            endIfEmpty();
        }
    }
}
