package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.net.ConnectionTimeouts;
import dev.gateway.net.ProxyProtocol;
import dev.gateway.net.tls.ServerTls;
import dev.gateway.net.transport.Transport;
import dev.gateway.net.transport.TransportKind;
import dev.gateway.overload.LoopGate;
import dev.gateway.protocol.http1.HeadLimits;
import dev.gateway.protocol.http1.Http1ServerSettings;
import dev.gateway.protocol.http2.Http2ServerSettings;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HandshakeFailure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
import dev.gateway.testing.Buffers;
import dev.gateway.testing.IgnoredEvents;
import dev.gateway.time.TimerWheel;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Listeners on two event loops, or how many there are to be. Their request handler answers at once, but keeps {@code /held}
 * until the test answers, and fails at {@code /defect}.
 */
final class ListenerRig {
    static final int PATIENCE_MILLIS = 20_000;

    final Transport transport;
    final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    final BlockingQueue<Call> held = new LinkedBlockingQueue<>();
    private final List<Listener> listeners = new ArrayList<>();

    SocketAddress bound = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    String name = "web";
    boolean reusePort;
    int maxConnections;
    Predicate<InetAddress> trustedProxies = ip -> false;

    @Nullable
    ServerTls tls;

    @Nullable
    ProxyProtocol proxyProtocol;

    boolean h2cUpgrade;
    long idleMillis;
    long requestHeadersMillis;
    IntFunction<LoopGate> gates = loop -> LoopGate.OPEN;

    ListenerRig() {
        this(2);
    }

    ListenerRig(int loops) {
        this(TransportKind.EPOLL, loops);
    }

    ListenerRig(TransportKind kind, int loops) {
        transport = Transport.start(kind, loops);
    }

    /** A request that waits for its answer. */
    record Call(ServerStream stream, RequestHead head, EventLoop loop) {
        void answer() {
            loop.execute(this::reply);
        }

        private void reply() {
            var info = stream.connection();
            String text = "peer=" + info.client().text() + " local=" + info.local() + " tls=" + (info.tls() != null)
                    + " loop=" + System.identityHashCode(loop);
            byte[] body = text.getBytes(StandardCharsets.US_ASCII);
            stream.head(new ResponseHead(200, null, new Fields(), body.length), false);
            stream.data(Buffers.of(body), true);
            stream.flush();
        }
    }

    /** Returns the settings that the fields say now. */
    ListenerSettings settings() {
        Http1ServerSettings http1 = new Http1ServerSettings(
                HeadLimits.DEFAULT,
                new ConnectionTimeouts(requestHeadersMillis, 0, idleMillis, 0, PATIENCE_MILLIS),
                false);
        return new ListenerSettings(
                0,
                name,
                bound,
                reusePort ? ListenerSettings.Sharing.SPREAD : ListenerSettings.Sharing.NONE,
                new ListenerSettings.Limits(
                        maxConnections,
                        0,
                        new ListenerSettings.Clients(ListenerSettings.Access.ANYONE, 0, trustedProxies, 0)),
                tls,
                proxyProtocol,
                new ListenerSettings.Protocols(http1, Http2ServerSettings.DEFAULT, h2cUpgrade));
    }

    List<ListenerLoop> loops() {
        List<ListenerLoop> loops = new ArrayList<>();
        for (EventLoop loop : transport.loops()) {
            LoopGate gate = gates.apply(loops.size());
            loops.add(new ListenerLoop(loop, new TimerWheel(loop), new Core(loop), new Recorder(), gate));
        }
        return loops;
    }

    Listener listen() throws IOException {
        Listener listener = bind();
        listener.accept();
        return listener;
    }

    /** Binds; nothing is accepted. */
    Listener bind() throws IOException {
        return stopLater(Listener.bind(transport, loops(), settings()));
    }

    Listener stopLater(Listener listener) {
        listeners.add(listener);
        return listener;
    }

    static Socket connect(Listener listener) throws IOException {
        Socket socket = new Socket();
        socket.setSoTimeout(PATIENCE_MILLIS);
        socket.connect(listener.address());
        return socket;
    }

    Call heldCall() throws InterruptedException {
        Call call = held.poll(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        assertThat(call).as("a request").isNotNull();
        return call;
    }

    void awaitEvent(String wanted) throws InterruptedException {
        List<String> before = new ArrayList<>();
        for (String event = ""; !event.equals(wanted); before.add(event)) {
            event = events.poll(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
            assertThat(event).as("%s after %s", wanted, before).isNotNull();
        }
    }

    /** Waits until so many connections are open: accepting one has no event of its own. */
    static void awaitConnections(Listener listener, int count) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
        while (listener.connections() != count) {
            assertThat(System.nanoTime())
                    .as("still %s connections", listener.connections())
                    .isLessThan(deadline);
            LockSupport.parkNanos(1_000_000);
        }
    }

    void stop() throws InterruptedException {
        for (Listener listener : listeners) {
            listener.stopAccepting();
            listener.closeConnections();
            assertThat(listener.drain()).succeedsWithin(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
            assertThat(listener.connections()).isZero();
        }
        transport.stop().sync();
        if (tls != null) {
            tls.close();
        }
    }

    private final class Core implements RequestHandler {
        private final EventLoop loop;

        Core(EventLoop loop) {
            this.loop = loop;
        }

        @Override
        public StreamEvents onRequest(ServerStream stream, RequestHead head, boolean last) {
            Call call = new Call(stream, head, loop);
            if (head.path().toString().equals("/held")) {
                held.add(call);
            } else if (head.path().toString().equals("/defect")) {
                throw new IllegalStateException("a defect");
            } else {
                call.reply();
            }
            return new Dropped();
        }

        @Override
        public void onRefused(ServerStream stream, @Nullable RequestHead head, Failure failure) {
            stream.head(new ResponseHead(failure.status(), null, new Fields(), 0), true);
            stream.flush();
        }
    }

    private final class Dropped extends IgnoredEvents {
        @Override
        public void onReset(Failure failure) {
            events.add("reset " + failure.cause());
        }
    }

    private final class Recorder implements ConnectionObserver {
        @Override
        public void onOpened(HttpVersion version, boolean secure) {
            events.add("opened " + version + (secure ? " tls" : ""));
        }

        @Override
        public void onClosed(HttpVersion version, boolean secure) {
            events.add("closed " + version + (secure ? " tls" : ""));
        }

        @Override
        public void onConnectionRefused() {
            events.add("refused");
        }

        @Override
        public void onAcceptPaused() {
            events.add("accepting paused");
        }

        @Override
        public void onIdleClosed() {
            events.add("idle closed");
        }

        @Override
        public void onHandshakeFailed(HandshakeFailure reason) {
            events.add("handshake failed");
        }

        @Override
        public void onViolation(String kind) {
            events.add("violation " + kind);
        }
    }
}
