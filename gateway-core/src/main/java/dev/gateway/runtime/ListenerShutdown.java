package dev.gateway.runtime;

import dev.gateway.listener.Listener;
import dev.gateway.net.transport.InheritedSockets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Graceful shutdown of listeners, when the process is to end: nobody new is accepted, what runs may finish for some time,
 * and what is left is closed. Blocks its caller; not for event loops.
 */
final class ListenerShutdown {
    /** How long a client may take for its next request on a connection that it keeps, to be told that it is the last. */
    static final long LAST_WORD_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final Logger log = LoggerFactory.getLogger(ListenerShutdown.class);

    /** How long connections that were closed by force may take to be gone. */
    private static final long FORCED_CLOSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** How long a client whose first packet has come here may take for the next one. */
    private static final long HANDSHAKE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final List<Listener> listeners;
    private final InheritedSockets inherited;

    ListenerShutdown(List<Listener> listeners, InheritedSockets inherited) {
        this.listeners = listeners;
        this.inherited = inherited;
    }

    /**
     * Accepts no more connections but those that wait, lets what runs on them finish for some time, then ends what is left.
     * The caller has told clients before that their connections end.
     *
     * @param nanos how long all of it may take
     * @param toldNanos how long ago clients were told that their connections end
     */
    void drain(long nanos, long toldNanos) {
        long start = System.nanoTime();
        if (listeners.stream().filter(Listener::giveWay).count() > 0) {
            pause(Math.min(HANDSHAKE_NANOS, nanos / 4));
        }
        listeners.forEach(Listener::turnAway);
        acceptRest(listeners, nanos / 4);
        stopAccepting();
        awaitAskers(start + Math.min(LAST_WORD_NANOS - toldNanos, nanos / 4));
        CompletableFuture<Void> drained = drained();
        if (!await(drained, nanos - (System.nanoTime() - start))) {
            log.warn("Drain timeout: closing {} connections with their exchanges", connections());
        }
        closeConnections(drained);
    }

    /** Accepts no more connections and ends those there are. */
    void close() {
        stopAccepting();
        closeConnections(drained());
    }

    /**
     * Accepts those who have connected: all listeners at the same time, so that many of them take no longer than one.
     *
     * @param nanos how long it may take
     */
    static void acceptRest(List<Listener> all, long nanos) {
        CompletableFuture.allOf(all.stream().map(each -> each.acceptRest(nanos)).toArray(CompletableFuture<?>[]::new))
                .join();
    }

    private int connections() {
        return listeners.stream().mapToInt(Listener::connections).sum();
    }

    /** Lets kept connections announce the end in their next response: a request may be on its way to them. */
    private void awaitAskers(long deadline) {
        while (connections() > 0 && System.nanoTime() - deadline < 0) {
            pause(LOOK_NANOS);
            if (Thread.currentThread().isInterrupted()) {
                return; // the interrupting thread wants an end
            }
        }
    }

    private static void pause(long nanos) {
        try {
            TimeUnit.NANOSECONDS.sleep(nanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the interrupting thread wants an end: stop waiting
        }
    }

    private void stopAccepting() {
        listeners.forEach(Listener::stopAccepting);
        inherited.close(); // clients that do not get in here should not wait, unless for a successor
    }

    private CompletableFuture<Void> drained() {
        return CompletableFuture.allOf(listeners.stream().map(Listener::drain).toArray(CompletableFuture<?>[]::new));
    }

    /** Waits for the end of something, whatever interrupts it; returns whether it has come in time, and was none by failure. */
    static boolean await(CompletableFuture<Void> done, long nanos) {
        long deadline = System.nanoTime() + nanos;
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    done.get(Math.max(1, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
                    return true;
                } catch (InterruptedException e) {
                    interrupted = true; // the end has come already, and is to be an orderly one
                } catch (ExecutionException | TimeoutException e) {
                    return false;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Each exchange ends on its loop, which is given the time to count and log it. */
    private void closeConnections(CompletableFuture<Void> drained) {
        listeners.forEach(Listener::closeConnections);
        await(drained, FORCED_CLOSE_NANOS);
    }
}
