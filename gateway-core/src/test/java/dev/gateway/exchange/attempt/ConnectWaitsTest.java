package dev.gateway.exchange.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.UpstreamValues;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The queue of those who wait until an endpoint can be reached. {@code ConnectWaitTest} has the requests. */
class ConnectWaitsTest {
    private static final int MANY = 20_000;

    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final ConnectWaits waits = new ConnectWaits(new TimerWheel(loop.eventLoop(), () -> 0));
    private final Upstream upstream = new Upstream(
            "app",
            List.of(new Endpoint(0, "192.0.2.0", 80, 1)),
            RoundRobin::new,
            UpstreamValues.builder().build());
    private final List<Integer> turns = new ArrayList<>();
    private int depth;
    private int deepest;

    @AfterEach
    void close() {
        loop.finishAndReleaseAll();
    }

    /** It has a connection at once, which is told while it has its turn. */
    private final class Request implements ConnectWaits.Waiting {
        private final int number;

        Request(int number) {
            this.number = number;
        }

        @Override
        public long untilNanos() {
            return Long.MAX_VALUE;
        }

        @Override
        public void onTurn() {
            turns.add(number);
            deepest = Math.max(deepest, ++depth);
            waits.onConnected(upstream);
            depth--;
        }

        @Override
        public void onTimeOver() {
            throw new AssertionError("its time is not over");
        }
    }

    @Test
    void howeverManyWaitNoneHasItsTurnInsideThatOfAnother() {
        IntStream.range(0, MANY).forEach(number -> waits.add(upstream, new Request(number)));
        waits.onConnected(upstream);
        assertThat(deepest).isEqualTo(1);
        assertThat(turns).isEqualTo(IntStream.range(0, MANY).boxed().toList());
    }
}
