package dev.gateway.upstream.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/** The fixture itself, whose counts must be right while connections change. */
final class PoolFixtureTest extends PoolFixture {
    private final Queue<Callable<?>> afterCount = new ArrayDeque<>();

    @Override
    PoolCounts counted() throws Exception {
        PoolCounts counts = super.counted();
        Callable<?> next = afterCount.poll();
        if (next != null) {
            next.call();
        }
        return counts;
    }

    @Test
    void aConnectionThatBecomesIdleMeanwhileIsCounted() throws Exception {
        FakeUpstream origin = http1();
        to(origin);
        Reply reply = get("/hold");
        Runnable answer = heldBy(origin);
        afterCount.add(() -> {
            answer.run();
            return reply.connection();
        });
        assertThat(connections()).isEqualTo(1);
    }
}
