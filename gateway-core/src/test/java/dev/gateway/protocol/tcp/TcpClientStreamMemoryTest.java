package dev.gateway.protocol.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.overload.memory.StalledPeers;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.SourceAddress;
import dev.gateway.testing.Blockade;
import dev.gateway.testing.HalfClosableChannel;
import dev.gateway.testing.IgnoredEvents;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a tunnel holds for an upstream that reads nothing, which may be the client's accomplice. */
class TcpClientStreamMemoryTest {
    private static final int PIECE = 10_000;

    private final LoopBudget heap = new LoopBudget(new MemoryBudget(1 << 20, 1));
    private final LoopBudget direct = new LoopBudget(new MemoryBudget(1 << 20, 1));
    private final HalfClosableChannel channel = new HalfClosableChannel();
    private final Blockade blockade = new Blockade(channel);
    private final List<Cause> resets = new ArrayList<>();
    private final TcpClientStream stream = TcpClientStream.over(
            channel,
            () -> {},
            new Events(),
            ConnectionObserver.NONE,
            new TimerWheel(channel.eventLoop(), System::nanoTime));

    private final class Events extends IgnoredEvents {
        private final SourceAddress address = SourceAddress.of(null);
        private final ConnectionInfo client = new ConnectionInfo(
                0, "test", HttpVersion.HTTP_1_1, address, address, null, null, new Account(heap, direct));

        @Override
        public ConnectionInfo clientConnection() {
            return client;
        }

        @Override
        public void onReset(Failure failure) {
            resets.add(failure.cause());
        }
    }

    private void send(boolean last) {
        stream.data(Unpooled.directBuffer(PIECE, PIECE).writeZero(PIECE), last);
        stream.flush();
    }

    @AfterEach
    void nothingIsCharged() {
        channel.finishAndReleaseAll();
        assertThat(direct.held()).isZero();
        assertThat(StalledPeers.ofThisLoop().cut(0, Long.MAX_VALUE, 0)).isZero();
    }

    @Test
    void whatTheUpstreamDoesNotTakeIsChargedToTheClient() {
        send(false);
        assertThat(channel.isWritable()).isTrue();
        assertThat(direct.held()).isBetween((long) PIECE, PIECE + 1000L);
        blockade.lift();
        assertThat(direct.held()).isZero();
    }

    @Test
    void alsoAfterTheClientHasSentAll() {
        send(false);
        send(true);
        assertThat(direct.held()).isBetween(2L * PIECE, 2 * PIECE + 1000L);
        channel.close();
        assertThat(direct.held()).isZero();
    }

    @Test
    void itIsCutIfMemoryRunsLow() {
        send(false);
        assertThat(StalledPeers.ofThisLoop().cut(0, 1, 0)).isGreaterThanOrEqualTo(PIECE);
        assertThat(channel.isOpen()).isFalse();
        assertThat(resets).containsExactly(Cause.OVERLOAD);
    }
}
