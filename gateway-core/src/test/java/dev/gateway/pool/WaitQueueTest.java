package dev.gateway.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.stream.ResponseEvents;
import dev.gateway.upstream.StreamKind;
import dev.gateway.upstream.StreamOpener;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The order of those who wait, of whom any may leave. */
class WaitQueueTest {
    private final WaitQueue queue = new WaitQueue();
    private final Waiter first = waiter();
    private final Waiter second = waiter();
    private final Waiter third = waiter();

    private static Waiter waiter() {
        return new Waiter(
                PartsFixture.unused(Waiter.Owner.class),
                StreamKind.EXCHANGE,
                PartsFixture.unused(ResponseEvents.class),
                PartsFixture.unused(StreamOpener.Callback.class),
                0);
    }

    @BeforeEach
    void fill() {
        List.of(first, second, third).forEach(queue::add);
    }

    @Test
    void theyAreInTheirOrder() {
        assertThat(queue.copy()).containsExactly(first, second, third);
        assertThat(queue.size()).isEqualTo(3);
        assertThat(queue.isAmongFirst(second, 1)).isFalse();
        assertThat(queue.isAmongFirst(second, 2)).isTrue();
        assertThat(queue.isAmongFirst(waiter(), 5)).isFalse();
    }

    @Test
    void anyMayLeave() {
        queue.remove(second);
        assertThat(second.queued).isFalse();
        assertThat(queue.copy()).containsExactly(first, third);
        queue.remove(third);
        queue.add(second);
        assertThat(queue.copy()).containsExactly(first, second);
        queue.remove(first);
        assertThat(queue.first()).isSameAs(second);
        queue.remove(second);
        assertThat(queue.first()).isNull();
        assertThat(queue.size()).isZero();
        queue.add(first);
        assertThat(queue.copy()).containsExactly(first);
    }
}
