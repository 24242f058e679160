package dev.gateway.tests.support;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http2Peer;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Clients that ask one request after the other of what must not be asked twice, each on a connection that it keeps until
 * it is told to go. They try nothing again: whatever is refused or fails is a failure of the test.
 */
public final class ConstantLoad {
    private static final int ENOUGH = 5; // for each client; more would only be slower

    private final Peers protocol;
    private final List<Thread> clients = new ArrayList<>();
    private final AtomicIntegerArray served; // by each on connections to the present port
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private volatile int port;
    private volatile boolean stopping;

    private ConstantLoad(Peers protocol, int port, int clients) {
        this.protocol = protocol;
        this.port = port;
        this.served = new AtomicIntegerArray(clients);
    }

    /** Starts, and returns when all clients have been served. */
    public static ConstantLoad start(Peers protocol, int port, int clients) {
        ConstantLoad load = new ConstantLoad(protocol, port, clients);
        for (int i = 0; i < clients; i++) {
            int client = i;
            Thread thread = new Thread(() -> load.run(client), "client " + i);
            load.clients.add(thread);
            thread.start();
        }
        load.awaitServed();
        return load;
    }

    /** Has the next connections made to another port, or to the same anew, and returns when each client has been served there. */
    public void moveTo(int next) {
        port = next;
        for (int i = 0; i < served.length(); i++) {
            served.set(i, 0);
        }
        awaitServed();
    }

    private void awaitServed() {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        for (int i = 0; i < served.length(); i++) {
            while (served.get(i) < ENOUGH) {
                assertThat(failures).isEmpty();
                assertThat(System.nanoTime()).as("clients are served").isLessThan(deadline);
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    /** Ends it; fails if any request has. */
    public void stop() throws InterruptedException {
        stopping = true;
        for (Thread client : clients) {
            client.join(Peer.PATIENCE_MILLIS);
            assertThat(client.isAlive()).isFalse();
        }
        assertThat(failures).isEmpty();
    }

    private void run(int client) {
        try {
            while (!stopping) {
                askUntilToldToGo(client, port);
            }
        } catch (IOException | RuntimeException | AssertionError e) {
            failures.add(e);
        }
    }

    private void askUntilToldToGo(int client, int connectedTo) throws IOException {
        try (Peer connection = protocol.connect(connectedTo)) {
            boolean told = false;
            while (!stopping && !told) {
                PeerStream stream = connection.open();
                Head request = Head.request("POST", "/", "content-length", "0");
                if (connection instanceof Http2Peer http2) {
                    synchronized (http2) { // as every client does: no stream is opened once GOAWAY was read
                        if (http2.isGoingAway()) {
                            return;
                        }
                        stream.send(request, true);
                    }
                } else {
                    stream.send(request, true);
                }
                Head response = stream.receiveFinal();
                assertThat(response.status()).isEqualTo(200);
                assertThat(stream.receiveBody()).isEqualTo("ok");
                told = response.get("connection").orElse("").contains("close");
                if (connectedTo == port) {
                    served.incrementAndGet(client);
                }
            }
        }
    }
}
