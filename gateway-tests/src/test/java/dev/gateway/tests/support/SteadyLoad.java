package dev.gateway.tests.support;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Clients that ask and ask: a connection each, in every protocol, made anew only when the gateway says so. */
public final class SteadyLoad implements AutoCloseable {
    /** Up to a hundred requests a second from each client; as many as it can would take the machine from the reloads. */
    private static final int PACE_NANOS = 10_000_000;

    private final AtomicBoolean stopping = new AtomicBoolean();
    private final AtomicInteger served = new AtomicInteger();
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private final List<Thread> threads = new ArrayList<>();

    public SteadyLoad(Rig rig) {
        for (Peers protocol : Peers.values()) {
            Thread thread = new Thread(() -> run(rig, protocol), "load " + protocol);
            threads.add(thread);
            thread.start();
        }
    }

    private void run(Rig rig, Peers protocol) {
        try (Peer client = rig.connect(protocol)) {
            while (!stopping.get()) {
                PeerStream stream = client.open();
                stream.send(Head.request("POST", "/load"), false);
                stream.send("x".repeat(1000), true);
                Head response = stream.receiveFinal();
                String body = stream.receiveBody();
                if (response.status() != 200 || !body.equals("ok")) {
                    throw new IOException(response + body);
                }
                if (response.get("connection").isPresent()) {
                    throw new IOException("the connection is to be closed: " + response);
                }
                served.incrementAndGet();
                LockSupport.parkNanos(PACE_NANOS);
            }
        } catch (Exception e) {
            failures.add(e);
        }
    }

    /** Waits until so many more requests were served. */
    public void goOnFor(int requests) {
        int until = served.get() + requests;
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        while (served.get() < until) {
            assertThat(failures).isEmpty();
            assertThat(System.nanoTime()).as("requests are served").isLessThan(deadline);
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** Returns how many requests were served. */
    public int served() {
        return served.get();
    }

    /** Ends it; fails if any request has. */
    public void stop() throws InterruptedException {
        stopping.set(true);
        for (Thread thread : threads) {
            thread.join(Peer.PATIENCE_MILLIS);
            assertThat(thread.isAlive()).isFalse();
        }
        assertThat(failures).isEmpty();
    }

    @Override
    public void close() {
        stopping.set(true);
    }
}
