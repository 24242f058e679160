package dev.gateway.net;

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
import dev.gateway.testing.IgnoredEvents;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a tunnel holds for a client that reads nothing. */
class TunnelMemoryTest {
    private static final int PIECE = 10_000;

    private final LoopBudget heap = new LoopBudget(new MemoryBudget(1 << 20, 1));
    private final LoopBudget direct = new LoopBudget(new MemoryBudget(1 << 20, 1));
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final Blockade blockade = new Blockade(channel);
    private final List<Cause> resets = new ArrayList<>();
    private final ByteStreamHalf half = ByteStreamHalf.ofClient(
            info(), new Events(), ConnectionObserver.NONE, new TimerWheel(channel.eventLoop(), System::nanoTime));

    TunnelMemoryTest() {
        channel.pipeline().addLast(half);
    }

    private ConnectionInfo info() {
        SourceAddress address = SourceAddress.of(null);
        return new ConnectionInfo(
                0, "test", HttpVersion.HTTP_1_1, address, address, null, null, new Account(heap, direct));
    }

    private final class Events extends IgnoredEvents {
        @Override
        public void onReset(Failure failure) {
            resets.add(failure.cause());
        }
    }

    private void send() {
        half.data(Unpooled.directBuffer(PIECE, PIECE).writeZero(PIECE), false);
        half.flush();
    }

    @AfterEach
    void nothingIsCharged() {
        channel.finishAndReleaseAll();
        assertThat(direct.held()).isZero();
        assertThat(StalledPeers.ofThisLoop().cut(0, Long.MAX_VALUE, 0)).isZero();
    }

    /** The other end may be silent for long, and nobody sees that the client takes nothing. */
    @Test
    void whatTheClientDoesNotTakeIsCharged() {
        send();
        assertThat(channel.isWritable()).isTrue();
        assertThat(direct.held()).isBetween((long) PIECE, PIECE + 1000L);
        send();
        assertThat(direct.held()).isBetween(2L * PIECE, 2 * PIECE + 1000L);
        assertThat(half.unsent()).isLessThan(1000);
        blockade.lift();
        assertThat(direct.held()).isZero();
    }

    @Test
    void whatAFullConnectionHoldsIsThatOfTheExchange() {
        while (channel.isWritable()) {
            send();
        }
        long charged = direct.held();
        send();
        assertThat(direct.held()).isEqualTo(charged);
        assertThat(half.unsent()).isGreaterThanOrEqualTo(PIECE);
        assertThat(half.unsent() + charged).isEqualTo(PendingWrites.bytes(channel));
    }

    @Test
    void whatATunnelLeavesBehindIsChargedUntilItsConnectionCloses() {
        for (int i = 0; i < 20; i++) {
            send();
        }
        half.close(Failure.of(Cause.DRAIN, "the end"));
        assertThat(half.isOver()).isTrue();
        assertThat(direct.held()).isGreaterThan(20 * PIECE);
        channel.close();
        assertThat(direct.held()).isZero();
    }

    @Test
    void aTunnelIsCutIfMemoryRunsLow() {
        send();
        assertThat(StalledPeers.ofThisLoop().cut(0, 1, 0)).isGreaterThanOrEqualTo(PIECE);
        assertThat(channel.isOpen()).isFalse();
        assertThat(resets).containsExactly(Cause.OVERLOAD);
    }
}
