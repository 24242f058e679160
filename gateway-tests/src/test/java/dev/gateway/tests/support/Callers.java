package dev.gateway.tests.support;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Clients that send one request after the other, each in a thread of its own, until told to end. */
public final class Callers implements AutoCloseable {
    /** How a client uses connections. */
    public enum Kind {
        /** HTTP/1.1, each request on a connection of its own. */
        HTTP1_EACH,
        /** HTTP/1.1, all requests on one connection for as long as it lasts. */
        HTTP1_KEPT,
        /** HTTP/2 in cleartext, each request on a connection of its own. */
        H2_EACH,
        /** HTTP/2 in cleartext, all requests on one connection until it is told to go away. */
        H2_KEPT;

        private Peers protocol() {
            return this == HTTP1_EACH || this == HTTP1_KEPT ? Peers.HTTP1 : Peers.H2C;
        }

        private boolean keeps() {
            return this == HTTP1_KEPT || this == H2_KEPT;
        }
    }

    /** More than others have: one gateway may have to end and the next to start until there is an answer. */
    private static final int PATIENCE_MILLIS = 100_000;

    /** A gateway that drains waits a second for the first request of a connection: who is later has to come again. */
    private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(800);

    private final int port;
    private final List<Caller> callers = new ArrayList<>();
    private final Queue<String> failures = new ConcurrentLinkedQueue<>();
    private volatile boolean ended;

    /** Starts clients of a port of this host, one of each kind given. */
    public Callers(int port, Kind... kinds) {
        this.port = port;
        for (Kind kind : kinds) {
            callers.add(new Caller(kind));
        }
        callers.forEach(Thread::start);
    }

    /** Waits until each has been answered some more times. */
    public void awaitAnswers(int more) throws IOException {
        List<Long> goals =
                callers.stream().map(each -> each.answers.get() + more).toList();
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
        for (int i = 0; i < goals.size(); i++) {
            while (callers.get(i).answers.get() < goals.get(i)) {
                if (System.nanoTime() > deadline) {
                    throw new IOException(callers.get(i).kind + " is not answered; " + failures());
                }
                LockSupport.parkNanos(5_000_000);
            }
        }
    }

    /** Returns what has failed so far. */
    public List<String> failures() {
        return List.copyOf(failures);
    }

    @Override
    public void close() {
        end();
    }

    /** Lets each have its last answer. */
    public void end() {
        ended = true;
        for (Caller each : callers) {
            try {
                each.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /** One client. */
    private final class Caller extends Thread {
        private final Kind kind;
        private final AtomicLong answers = new AtomicLong();
        private @Nullable Peer kept;
        private int used;
        private long connecting; // since when

        Caller(Kind kind) {
            super("caller-" + kind);
            setDaemon(true);
            this.kind = kind;
        }

        @Override
        public void run() {
            while (!ended) {
                try {
                    call();
                    answers.incrementAndGet();
                } catch (IOException | RuntimeException e) {
                    failures.add(
                            kind + ", request " + used + " of its connection, after " + answers + " answers: " + e);
                    drop();
                    LockSupport.parkNanos(10_000_000);
                }
            }
            drop();
        }

        private void call() throws IOException {
            Peer peer = kept;
            if (peer == null) {
                connecting = System.nanoTime();
                peer = connect();
                kept = peer;
                used = 0;
            }
            used++;
            PeerStream stream = peer.open();
            Head head;
            boolean late = false;
            try {
                try {
                    stream.send(Head.request("GET", "/"), true);
                } finally {
                    late = System.nanoTime() - connecting > LATE_NANOS;
                }
                head = stream.receiveFinal();
            } catch (IOException e) {
                if (used > 1 || late) { // a kept connection may end at any time; what it did not answer is sent again
                    drop();
                    call();
                    return;
                }
                throw e;
            }
            String body = stream.receiveBody();
            if (head.status() != 200 || !body.equals("ok")) {
                throw new IOException("answered " + head.status() + " " + body);
            }
            if (!kind.keeps() || head.get("connection").filter("close"::equals).isPresent()) {
                drop();
            }
        }

        private Peer connect() throws IOException {
            if (kind.protocol().isHttp2()) {
                return kind.protocol().connect(port);
            }
            Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(PATIENCE_MILLIS);
            return new Http1Peer(socket, new BufferedInputStream(socket.getInputStream()), true);
        }

        private void drop() {
            Peer peer = kept;
            kept = null;
            if (peer != null) {
                try {
                    peer.close();
                } catch (IOException e) {
                    failures.add(kind + " cannot close: " + e);
                }
            }
        }
    }
}
