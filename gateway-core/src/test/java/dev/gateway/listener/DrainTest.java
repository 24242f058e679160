package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.EventLoop;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How the connections of a listener end. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class DrainTest {
    @TempDir
    Path directory;

    private final ListenerRig rig = new ListenerRig();

    @AfterEach
    void stop() throws Exception {
        rig.stop();
    }

    /** Stops accepting, and returns once every loop has begun to drain. */
    private CompletableFuture<Void> drain(Listener listener) throws InterruptedException {
        listener.stopAccepting();
        CompletableFuture<Void> drained = listener.drain();
        for (EventLoop loop : rig.transport.loops()) {
            loop.submit(() -> {}).sync();
        }
        return drained;
    }

    private static void assertEnds(CompletableFuture<Void> drained) {
        assertThat(drained).as("drained").succeedsWithin(ListenerRig.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
    }

    @Test
    void keptConnectionsAreClosedAndNewOnesRefused() throws Exception {
        Listener listener = rig.listen();
        try (Socket kept = ListenerRig.connect(listener)) {
            assertThat(Clients.exchange(kept, "/")).doesNotContain("Connection: close");
            CompletableFuture<Void> drained = drain(listener);
            assertThat(Clients.rest(kept)).isEmpty();
            assertEnds(drained);
            assertThatThrownBy(() -> ListenerRig.connect(listener)).isInstanceOf(IOException.class);
        }
    }

    @Test
    void anExchangeInFlightFinishesAndItsConnectionCloses() throws Exception {
        Listener listener = rig.listen();
        try (Socket busy = ListenerRig.connect(listener);
                Socket kept = ListenerRig.connect(listener)) {
            Clients.send(busy, Clients.get("/held"));
            ListenerRig.Call call = rig.heldCall();
            Clients.exchange(kept, "/");
            CompletableFuture<Void> drained = drain(listener);
            assertThat(Clients.rest(kept)).isEmpty();
            assertThat(drained.isDone()).isFalse();
            call.answer();
            assertThat(Clients.rest(busy)).startsWith("HTTP/1.1 200 ").contains("Connection: close", "peer=");
            assertEnds(drained);
        }
    }

    @Test
    void whoeverAsksTwiceIsToldTwice() throws Exception {
        Listener listener = rig.listen();
        try (Socket busy = ListenerRig.connect(listener)) {
            Clients.send(busy, Clients.get("/held"));
            ListenerRig.Call call = rig.heldCall();
            CompletableFuture<Void> first = drain(listener);
            CompletableFuture<Void> second = listener.drain();
            call.answer();
            assertEnds(first);
            assertEnds(second);
        }
    }

    @Test
    void whatDoesNotFinishIsEndedByForce() throws Exception {
        Listener listener = rig.listen();
        try (Socket busy = ListenerRig.connect(listener);
                Socket multiplexed = ListenerRig.connect(listener)) {
            Clients.send(busy, Clients.get("/held"));
            rig.heldCall();
            Clients.preface(multiplexed);
            Clients.h2Get(multiplexed, 1);
            Clients.frames(multiplexed, Clients.DATA);
            CompletableFuture<Void> drained = drain(listener);
            assertThat(drained.isDone()).isFalse();
            listener.closeConnections();
            assertEnds(drained);
            rig.awaitEvent("reset DRAIN");
            assertThat(Clients.rest(busy)).startsWith("HTTP/1.1 503 ");
        }
    }

    @Test
    void anHttp2ConnectionIsToldToGoAway() throws Exception {
        Listener listener = rig.listen();
        try (Socket kept = ListenerRig.connect(listener)) {
            Clients.preface(kept);
            Clients.h2Get(kept, 1);
            Clients.frames(kept, Clients.DATA);
            CompletableFuture<Void> drained = drain(listener);
            Clients.frames(kept, Clients.GOAWAY);
            Clients.frames(kept, Clients.GOAWAY);
            assertThat(kept.getInputStream().read()).isNegative();
            assertEnds(drained);
        }
    }

    // Before it is too late.

    @Test
    void aConnectionThatAnnouncesItsCloseServesItsNextRequestAsItsLast() throws Exception {
        Listener listener = rig.listen();
        try (Socket kept = ListenerRig.connect(listener);
                Socket idle = ListenerRig.connect(listener)) {
            Clients.exchange(kept, "/");
            Clients.exchange(idle, "/");
            listener.announceClose();
            Clients.send(kept, Clients.get("/"));
            assertThat(Clients.rest(kept)).startsWith("HTTP/1.1 200 ").contains("Connection: close");
            try (Socket late = ListenerRig.connect(listener)) {
                Clients.send(late, Clients.get("/"));
                assertThat(Clients.rest(late)).startsWith("HTTP/1.1 200 ").contains("Connection: close");
            }
            ListenerRig.awaitConnections(listener, 1); // the idle one, which may still ask
            CompletableFuture<Void> drained = drain(listener);
            assertThat(Clients.rest(idle)).isEmpty();
            assertEnds(drained);
        }
    }

    @Test
    void anHttp2ClientIsToldToGoAwayAfterItsFirstRequestOnceTheCloseIsAnnounced() throws Exception {
        Listener listener = rig.listen();
        try (Socket kept = ListenerRig.connect(listener);
                Socket silent = ListenerRig.connect(listener)) {
            Clients.preface(kept);
            Clients.h2Get(kept, 1);
            Clients.frames(kept, Clients.DATA);
            Clients.preface(silent);
            Clients.frames(silent, Clients.SETTINGS);
            ListenerRig.awaitConnections(listener, 2);
            listener.announceClose();
            Clients.frames(kept, Clients.GOAWAY);
            Clients.frames(kept, Clients.GOAWAY);
            assertThat(kept.getInputStream().read()).isNegative();
            Clients.h2Get(silent, 1);
            Clients.frames(silent, Clients.GOAWAY); // not before its request, which it would then keep back
            Clients.frames(silent, Clients.GOAWAY);
            assertEnds(drain(listener));
        }
    }

    @Test
    void aConnectionThatAnnouncesItsCloseAndIsAskedNothingHoldsNothingUp() throws Exception {
        Listener listener = rig.listen();
        try (Socket silent = ListenerRig.connect(listener);
                Socket multiplexed = ListenerRig.connect(listener)) {
            Clients.preface(multiplexed);
            Clients.frames(multiplexed, Clients.SETTINGS);
            ListenerRig.awaitConnections(listener, 2);
            listener.announceClose();
            assertEnds(drain(listener));
            assertThat(Clients.rest(silent)).isEmpty();
        }
    }

    // Connections whose first request is on its way.

    @Test
    void aConnectionThatSaysNothingHoldsNothingUp() throws Exception {
        Listener listener = rig.listen();
        try (Socket silent = ListenerRig.connect(listener)) {
            ListenerRig.awaitConnections(listener, 1);
            CompletableFuture<Void> drained = drain(listener);
            assertThat(Clients.rest(silent)).isEmpty();
            assertEnds(drained);
        }
    }

    @Test
    void aFirstRequestThatIsOnItsWayIsServed() throws Exception {
        Listener listener = rig.listen();
        try (Socket plain = ListenerRig.connect(listener);
                Socket begun = ListenerRig.connect(listener)) {
            ListenerRig.awaitConnections(listener, 2);
            Clients.send(begun, "GET / HT");
            rig.awaitEvent("opened HTTP_1_1");
            CompletableFuture<Void> drained = drain(listener);
            Clients.send(plain, Clients.get("/"));
            assertThat(Clients.rest(plain)).startsWith("HTTP/1.1 200 ").contains("Connection: close");
            Clients.send(begun, "TP/1.1\r\nHost: a.test\r\n\r\n");
            assertThat(Clients.rest(begun)).startsWith("HTTP/1.1 200 ").contains("Connection: close");
            assertEnds(drained);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aConnectionInItsHandshakeIsServedOneRequest(int certificates) throws Exception {
        rig.tls = Clients.serverTls(directory, certificates);
        Listener listener = rig.listen();
        try (Gated gated = new Gated(listener);
                SSLSocket client = Clients.tls(gated, directory, "http/1.1")) {
            CompletableFuture<String> served = CompletableFuture.supplyAsync(() -> handshakeAndGet(client));
            assertThat(gated.half.await(ListenerRig.PATIENCE_MILLIS, TimeUnit.MILLISECONDS))
                    .isTrue();
            ListenerRig.awaitConnections(listener, 1);
            CompletableFuture<Void> drained = drain(listener);
            gated.rest.countDown();
            assertThat(served.get(ListenerRig.PATIENCE_MILLIS, TimeUnit.MILLISECONDS))
                    .startsWith("HTTP/1.1 200 ")
                    .contains("Connection: close", "tls=true");
            assertEnds(drained);
        }
    }

    private static String handshakeAndGet(SSLSocket client) {
        try {
            client.startHandshake();
            Clients.send(client, Clients.get("/"));
            return Clients.rest(client);
        } catch (IOException e) {
            return e.toString();
        }
    }

    @Test
    void anHttp2ConnectionInItsHandshakeIsServedOneRequest() throws Exception {
        rig.tls = Clients.serverTls(directory, 1);
        Listener listener = rig.listen();
        try (Socket socket = ListenerRig.connect(listener);
                SSLSocket client = Clients.tls(socket, directory, "h2")) {
            ListenerRig.awaitConnections(listener, 1);
            CompletableFuture<Void> drained = drain(listener);
            client.startHandshake();
            rig.awaitEvent("opened HTTP_2 tls");
            Clients.preface(client);
            Clients.h2Get(client, 1);
            Clients.frames(client, Clients.GOAWAY); // not before the request, which a client would then keep back
            Clients.frames(client, Clients.GOAWAY);
            assertEnds(drained);
        }
    }

    @Test
    void aHandshakeThatNeverEndsIsEndedByForce() throws Exception {
        rig.tls = Clients.serverTls(directory, 1);
        Listener listener = rig.listen();
        try (Socket silent = ListenerRig.connect(listener)) {
            ListenerRig.awaitConnections(listener, 1);
            CompletableFuture<Void> drained = drain(listener);
            listener.closeConnections();
            assertThat(Clients.rest(silent)).isEmpty();
            assertEnds(drained);
        }
    }

    /** A connection that sends half of what it is given first, and waits with the rest. */
    private static final class Gated extends Socket {
        final CountDownLatch half = new CountDownLatch(1);
        final CountDownLatch rest = new CountDownLatch(1);

        Gated(Listener listener) throws IOException {
            setSoTimeout(ListenerRig.PATIENCE_MILLIS);
            connect(listener.address());
        }

        @Override
        public OutputStream getOutputStream() throws IOException {
            return new FilterOutputStream(super.getOutputStream()) {
                @Override
                public void write(byte[] bytes, int offset, int length) throws IOException {
                    if (half.getCount() == 0) {
                        out.write(bytes, offset, length);
                        return;
                    }
                    out.write(bytes, offset, length / 2);
                    half.countDown();
                    try {
                        rest.await();
                    } catch (InterruptedException e) {
                        throw new IOException(e);
                    }
                    out.write(bytes, offset + length / 2, length - length / 2);
                }
            };
        }
    }
}
