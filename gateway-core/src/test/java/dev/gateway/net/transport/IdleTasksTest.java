package dev.gateway.net.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(30)
class IdleTasksTest {
    private final List<String> done = new ArrayList<>();
    private long nanos;
    private final IdleTasks lull = new IdleTasks(() -> nanos);

    @Test
    void doesWhatWaitsWhenThereIsNothingElse() {
        lull.await(() -> done.add("one"));
        lull.await(() -> done.add("two"));
        lull.onPolled(false);
        assertThat(done).isEmpty();
        assertThat(lull.isAwaited()).isTrue();

        lull.onPolled(true);
        assertThat(done).containsExactly("one", "two");
        assertThat(lull.isAwaited()).isFalse();
    }

    @Test
    void doesItOnABusyLoopAfterAWhile() {
        lull.await(() -> done.add("one"));
        nanos += IdleTasks.MAX_WAIT_NANOS / 2;
        lull.await(() -> done.add("two"));
        nanos += IdleTasks.MAX_WAIT_NANOS / 2 - 1;
        lull.onPolled(false);
        assertThat(done).isEmpty();

        nanos++;
        lull.onPolled(false);
        assertThat(done).containsExactly("one", "two");
    }

    @Test
    void leavesToTheNextLullWhatATaskAwaits() {
        lull.await(() -> lull.await(() -> done.add("later")));
        nanos += IdleTasks.MAX_WAIT_NANOS;
        lull.onPolled(false);
        assertThat(done).isEmpty();

        nanos += IdleTasks.MAX_WAIT_NANOS - 1;
        lull.onPolled(false);
        assertThat(done).isEmpty();

        lull.onPolled(true);
        assertThat(done).containsExactly("later");
    }

    @Test
    void doesTheOthersWhenOneFails() {
        lull.await(() -> {
            throw new IllegalStateException("made by the test");
        });
        lull.await(() -> done.add("two"));
        lull.onPolled(true);
        assertThat(done).containsExactly("two");
    }

    /** A loop that waits for events, or for good, has had its lull before. */
    @ParameterizedTest
    @EnumSource(TransportKind.class)
    void comesOnALoopThatHasNothingToDo(TransportKind kind) throws Exception {
        Transport transport = Transport.start(kind, 1);
        try {
            EventLoop loop = transport.loops().get(0);
            CompletableFuture<Boolean> came = new CompletableFuture<>();
            loop.execute(() -> {
                @Nullable IdleTasks own = IdleTasks.ofThisLoop();
                if (own == null) {
                    came.complete(false);
                } else {
                    own.await(() -> came.complete(true));
                }
            });
            assertThat(came.get(20, TimeUnit.SECONDS)).isEqualTo(transport.kind() != TransportKind.NIO);
        } finally {
            transport.stop().syncUninterruptibly();
        }
    }
}
