package dev.gateway.upstream.balancer;

import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.SourceAddress;
import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.BalancerContext;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.balancer.hash.ConsistentHash;
import dev.gateway.upstream.balancer.hash.HashKey;
import io.netty.util.AsciiString;
import java.util.ArrayList;
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
import org.openjdk.jmh.annotations.Warmup;

/** What a balancing policy takes to choose an endpoint. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class BalancerBenchmark {
    @Param({"RoundRobin", "LeastRequest", "Random", "Hash", "PeakEwma"})
    String policy = "LeastRequest";

    @Param({"3", "1000"})
    int endpoints = 3;

    private final BalancerContext request = new FirstAttempt();
    private Balancer balancer = asked -> null;

    @Setup
    public void make() {
        List<Host> hosts = new ArrayList<>();
        for (int i = 0; i < endpoints; i++) {
            hosts.add(new Host(new Endpoint(i, "10.0." + (i >> 8) + "." + (i & 255), 80, 1)));
        }
        balancer = switch (policy) {
            case "RoundRobin" -> new RoundRobin(hosts);
            case "LeastRequest" -> new LeastRequest(hosts);
            case "Random" -> new WeightedRandom(hosts);
            case "Hash" -> new ConsistentHash(hosts, List.of(new HashKey(HashKey.Source.PATH, "", false)), 150);
            case "PeakEwma" -> new PeakEwma(hosts);
            default -> throw new IllegalArgumentException(policy);
        };
    }

    @Benchmark
    public @Nullable Endpoint choose() {
        return balancer.choose(request);
    }

    private static final class FirstAttempt implements BalancerContext {
        private final RequestHead head = new RequestHead(
                Method.GET,
                new AsciiString("http"),
                new AsciiString("a.test"),
                new AsciiString("/items/1"),
                new Fields(),
                0);

        @Override
        public RequestHead head() {
            return head;
        }

        @Override
        public SourceAddress client() {
            return SourceAddress.UNIX;
        }

        @Override
        public @Nullable Endpoint previous() {
            return null;
        }

        @Override
        public boolean isTried(Endpoint endpoint) {
            return false;
        }
    }
}
