package dev.gateway.upstream.pool;

import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.net.transport.Transport;
import dev.gateway.net.transport.TransportKind;
import dev.gateway.overload.memory.Account;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.stream.UpstreamObserver;
import dev.gateway.testing.IgnoredEvents;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.UpstreamSettings;
import dev.gateway.upstream.dial.UpstreamValues;
import dev.gateway.upstream.stream.StreamKind;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** What a pool does to lease a kept connection for a request, and to keep it again; without permits and what is counted. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class LeaseBenchmark {
    private static final long MINUTE = 60_000;

    @Param({"1", "64"})
    int kept = 1;

    private final Transport transport = Transport.start(TransportKind.NIO, 1);
    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final PooledConnections connections = new PooledConnections();
    private final ResponseEvents events = new IgnoredEvents();
    private @Nullable EndpointPool pool;
    private @Nullable IdleReaper reaper;

    @Setup
    @SuppressWarnings("NullAway") // nothing is resolved or dialed
    public void fill() throws Exception {
        List<Endpoint> endpoints = List.of(new Endpoint(0, "127.0.0.1", 9000, 1));
        UpstreamSettings settings = UpstreamValues.builder()
                .protocol(Protocol.HTTP1)
                .maxConnections(1024)
                .maxPendingRequests(1024)
                .maxRequests(65536)
                .responseHeadersMillis(MINUTE)
                .idleMillis(MINUTE)
                .maxLifetimeMillis(60 * MINUTE)
                .build();
        SharedUpstream shared =
                new SharedUpstream(new Upstream("app", endpoints, RoundRobin::new, settings), List.of());
        LoopPools pools =
                new LoopPools(transport, null, loop.eventLoop(), new TimerWheel(loop.eventLoop()), Account.UNLIMITED);
        UpstreamContext context = new UpstreamContext(pools.resources, shared, UpstreamObserver.NONE);
        EndpointContext endpoint = new EndpointContext(context, DialTarget.straight(endpoints.get(0)), true);
        Siblings alone = new Siblings(shared.permits, LoopResources.RANDOM, host -> {
            throw new IllegalStateException("there is one endpoint");
        });
        EndpointPool made = new EndpointPool(
                endpoint,
                alone,
                unused -> {
                    throw new IllegalStateException("there is no HTTP/2");
                },
                emptied -> {});
        IdleReaper lives = new IdleReaper(endpoint, made.kept, connections);
        for (int i = 0; i < kept; i++) {
            Kept connection = new Kept(loop, endpoint, made.kept);
            lives.begin(connection);
            lives.onIdle(connection);
            connections.add(connection);
            connections.push(connection);
        }
        pool = made;
        reaper = lives;
    }

    @Benchmark
    public ClientStream leaseAndReturn() {
        PooledConnection top = connections.top();
        if (pool == null
                || reaper == null
                || !(top instanceof Kept connection)
                || !connection.isUsable(true, pool.endpoint.now())) {
            throw new IllegalStateException("no connection");
        }
        ClientStream stream = connection.open(events);
        connections.withdraw(connection);
        connection.leased = false;
        connections.push(connection);
        reaper.onIdle(connection);
        reaper.watch(connection, pool.endpoint.now());
        return stream;
    }

    @TearDown
    public void stop() {
        loop.finishAndReleaseAll();
    }

    /** A connection of which a lease needs no more than whether it is leased; its own stream, too. */
    static final class Kept extends PooledConnection implements ClientStream {
        private boolean leased;

        Kept(Channel channel, EndpointContext endpoint, KeptConnections owner) {
            super(channel, endpoint, owner);
        }

        /** The response has ended. */
        void endLease() {
            leased = false;
            endpoint.releaseRequests(1);
            owner.onRoom(this);
        }

        @Override
        ChannelHandler handler() {
            return new ChannelInboundHandlerAdapter();
        }

        @Override
        HttpVersion version() {
            return HttpVersion.HTTP_1_1;
        }

        @Override
        int room() {
            return leased ? 0 : 1;
        }

        @Override
        boolean takes(StreamKind kind) {
            return true;
        }

        @Override
        ClientStream open(ResponseEvents events) {
            leased = true;
            return this;
        }

        @Override
        boolean isIdle() {
            return !leased;
        }

        @Override
        void finish() {}

        @Override
        void tellUnresponsive(String why) {}

        @Override
        void end(Failure failure) {}

        @Override
        public void head(RequestHead head, boolean last) {}

        @Override
        public void data(ByteBuf data, boolean last) {
            data.release();
        }

        @Override
        public void trailers(Fields fields) {}

        @Override
        public void flush() {}

        @Override
        public boolean isWritable() {
            return true;
        }

        @Override
        public void consumed(int bytes) {}

        @Override
        public void reset(Failure failure) {}
    }
}
