package dev.gateway.upstream.pool;

import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.net.transport.Transport;
import dev.gateway.net.transport.TransportKind;
import dev.gateway.overload.memory.Account;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.stream.UpstreamObserver;
import dev.gateway.testing.IgnoredEvents;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.UpstreamSettings;
import dev.gateway.upstream.dial.UpstreamValues;
import dev.gateway.upstream.pool.LeaseBenchmark.Kept;
import dev.gateway.upstream.stream.StreamKind;
import dev.gateway.upstream.stream.StreamOpener;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
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

/**
 * What the pools of an upstream do for one request, with limits and all that is counted: lease the connection that is kept to
 * the next of so many endpoints, and keep it again.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class EndpointsLeaseBenchmark implements StreamOpener.Callback {
    private static final long MINUTE = 60_000;

    @Param({"3", "1000"})
    int endpoints = 3;

    private final Transport transport = Transport.start(TransportKind.NIO, 1);
    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final ResponseEvents events = new IgnoredEvents();
    private EndpointPool[] pools = {};
    private int next;
    private @Nullable ClientStream opened;

    @Setup
    @SuppressWarnings("NullAway") // nothing is resolved or dialed
    public void fill() throws Exception {
        List<Endpoint> all = IntStream.range(0, endpoints)
                .mapToObj(i -> new Endpoint(i, "192.0.2." + i % 256, 9000 + i / 256, 1))
                .toList();
        UpstreamSettings settings = UpstreamValues.builder()
                .protocol(Protocol.HTTP1)
                .maxConnections(4096)
                .maxPendingRequests(1024)
                .maxRequests(65536)
                .responseHeadersMillis(MINUTE)
                .idleMillis(MINUTE)
                .maxLifetimeMillis(60 * MINUTE)
                .build();
        Upstream upstream = new Upstream("app", all, RoundRobin::new, settings);
        SharedUpstream shared = new SharedUpstream(upstream, List.of());
        LoopPools loopPools =
                new LoopPools(transport, null, loop.eventLoop(), new TimerWheel(loop.eventLoop()), Account.UNLIMITED);
        UpstreamContext context = new UpstreamContext(loopPools.resources, shared, UpstreamObserver.NONE);
        Map<Host, EndpointPool> byHost = new HashMap<>();
        Siblings siblings = new Siblings(shared.permits, LoopResources.RANDOM, byHost::get);
        for (Host host : upstream.hosts()) {
            EndpointContext endpoint = new EndpointContext(context, DialTarget.straight(host.endpoint()), host, false);
            EndpointPool pool = new EndpointPool(
                    endpoint,
                    siblings,
                    unused -> {
                        throw new IllegalStateException("there is no HTTP/2");
                    },
                    emptied -> {});
            byHost.put(host, pool);
            siblings.add(pool);
            host.connections().acquireBeyond();
            Kept connection = new Kept(loop, endpoint, pool.kept);
            pool.kept.admit(connection);
            pool.kept.offer(connection);
        }
        pools = upstream.hosts().stream().map(byHost::get).toArray(EndpointPool[]::new);
    }

    @Benchmark
    public ClientStream leaseAndReturn() {
        next = next + 1 < pools.length ? next + 1 : 0;
        pools[next].open(StreamKind.EXCHANGE, events, this);
        if (!(Objects.requireNonNull(opened) instanceof Kept connection)) {
            throw new IllegalStateException("no connection");
        }
        connection.endLease();
        return connection;
    }

    @TearDown
    public void stop() {
        loop.finishAndReleaseAll();
        transport.stop().syncUninterruptibly();
    }

    @Override
    public void onOpened(ClientStream stream, DialedPeer peer) {
        opened = stream;
    }

    @Override
    public void onOpenFailed(Failure failure) {
        throw new IllegalStateException(failure.toString());
    }
}
