package dev.gateway.upstream.pool;

import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.net.transport.Transport;
import dev.gateway.net.transport.TransportKind;
import dev.gateway.overload.memory.Account;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.stream.UpstreamObserver;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.UpstreamValues;
import dev.gateway.upstream.stream.StreamKind;
import dev.gateway.upstream.stream.StreamOpener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

/** The parts of a pool, each by itself: on an event loop that the test runs, by a clock that it moves; nothing is dialed. */
@SuppressWarnings("NullAway.Init") // fields that JUnit and each test set
abstract class PartsFixture {
    static Transport transport;

    final EmbeddedChannel loop = new EmbeddedChannel();

    /** What the observer and the callbacks of requests have been told. */
    final List<String> told = new ArrayList<>();

    final UpstreamValues settings = UpstreamValues.builder().protocol(Protocol.HTTP1);
    LoopResources resources;
    SharedUpstream shared;
    UpstreamContext context;
    EndpointContext endpoint;
    private long nanos = 1_000_000_000;

    @BeforeAll
    static void start() {
        transport = Transport.start(TransportKind.NIO, 1);
    }

    @AfterAll
    static void stop() throws InterruptedException {
        transport.stop().sync();
    }

    @AfterEach
    void closeAll() {
        if (shared != null) {
            shared.close();
        }
        loop.finishAndReleaseAll();
    }

    /** Makes an upstream of so many endpoints, the first of which is {@link #endpoint}. */
    @SuppressWarnings("NullAway") // nothing is resolved
    void upstreamOf(int count) throws Exception {
        List<Endpoint> endpoints = IntStream.range(0, count)
                .mapToObj(i -> new Endpoint(i, "127.0.0." + (i + 1), 9000, 1))
                .toList();
        shared = new SharedUpstream(new Upstream("app", endpoints, RoundRobin::new, settings.build()), List.of());
        loop.freezeTime();
        resources = new LoopResources(
                transport,
                null,
                loop.eventLoop(),
                new TimerWheel(loop.eventLoop(), () -> nanos),
                LoopResources.RANDOM,
                Account.UNLIMITED,
                () -> false);
        context = new UpstreamContext(resources, shared, new Recorder());
        endpoint = endpoint(0);
    }

    EndpointContext endpoint(int index) {
        return new EndpointContext(
                context, DialTarget.straight(shared.upstream.endpoints().get(index)), false);
    }

    /** Lets time pass, a tick at a time, the loop running what is due. */
    void pass(long millis) {
        for (long i = 0; i < millis; i += TimerWheel.TICK_MILLIS) {
            nanos += TimerWheel.TICK_MILLIS * 1_000_000;
            loop.advanceTimeBy(TimerWheel.TICK_MILLIS, TimeUnit.MILLISECONDS);
            loop.runScheduledPendingTasks();
        }
    }

    /** Lets time pass before the loop runs anything that is due. */
    void elapse(long millis) {
        nanos += millis * 1_000_000;
    }

    /** Returns what has been told since this was asked last. */
    List<String> told() {
        List<String> now = List.copyOf(told);
        told.clear();
        return now;
    }

    /** Returns something that is only handed around. */
    static <T> T unused(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> {
            throw new AssertionError(method);
        }));
    }

    static Failure failure() {
        return Failure.of(Cause.CONNECT_FAILED, "refused");
    }

    /** Tells the answer to a request. */
    final class Answer implements StreamOpener.Callback {
        private final Object client;

        Answer() {
            this("a client");
        }

        Answer(Object client) {
            this.client = client;
        }

        @Override
        public Object client() {
            return client;
        }

        @Override
        public void onMoved(Endpoint to) {
            told.add("moved to " + to.index());
        }

        @Override
        public void onOpened(ClientStream stream, DialedPeer peer) {
            told.add("opened");
        }

        @Override
        public void onOpenFailed(Failure failure) {
            told.add("failed " + failure.cause() + (client.equals("a client") ? "" : " of " + client));
        }
    }

    private final class Recorder implements UpstreamObserver {
        @Override
        public void onIdle(HttpVersion version) {
            told.add("idle");
        }

        @Override
        public void onIdleEnded(HttpVersion version) {
            told.add("idle ended");
        }

        @Override
        public void onClosed(HttpVersion version, boolean tls, CloseCause cause) {
            told.add("closed " + cause);
        }

        @Override
        public void onPendingOverflow() {
            told.add("overflow");
        }

        @Override
        public void onPendingTimeout() {
            told.add("timeout");
        }
    }

    /** A connection with room for some streams, which end when the test says so. */
    static final class FakeConnection extends PooledConnection {
        int most;
        int streams;

        @Nullable
        Failure ended;

        FakeConnection(EndpointContext endpoint, KeptConnections owner, int most) {
            super(new EmbeddedChannel(), endpoint, owner);
            this.most = most;
        }

        void endStream() {
            streams--;
            owner.onRoom(this);
        }

        @Override
        ChannelHandler handler() {
            throw new AssertionError("not asked for");
        }

        @Override
        HttpVersion version() {
            return HttpVersion.HTTP_1_1;
        }

        @Override
        int room() {
            return most - streams;
        }

        @Override
        boolean takes(StreamKind kind) {
            return true;
        }

        @Override
        ClientStream open(ResponseEvents events) {
            streams++;
            return unused(ClientStream.class);
        }

        @Override
        boolean isIdle() {
            return streams == 0;
        }

        @Override
        void finish() {
            if (streams == 0) {
                channel.close();
            }
        }

        @Override
        void tellUnresponsive(String why) {}

        @Override
        void end(Failure failure) {
            ended = failure;
            channel.close();
        }
    }
}
