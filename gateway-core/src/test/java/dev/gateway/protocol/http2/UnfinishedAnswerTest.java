package dev.gateway.protocol.http2;

import static dev.gateway.protocol.http2.Frames.block;
import static dev.gateway.protocol.http2.Frames.frame;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.message.Method;
import dev.gateway.overload.LoopGate;
import dev.gateway.overload.Overload;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.overload.memory.StalledPeers;
import dev.gateway.stream.Cause;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.SourceAddress;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Parts of frames and of header blocks that an upstream sends are charged to the client whose request it answers. */
class UnfinishedAnswerTest {
    private static final int PIECE = 16 * 1024;

    private final LoopBudget direct = new LoopBudget(new MemoryBudget(1 << 20, 1));
    private final LoopGate gate = new LoopGate(new Overload(), new LoopBudget(new MemoryBudget(16 << 20, 1)), direct);
    private final List<Upstream> upstreams = new ArrayList<>();

    @AfterEach
    void nothingIsCharged() {
        upstreams.forEach(upstream -> upstream.channel.finishAndReleaseAll());
        assertThat(direct.held()).isZero();
    }

    /** One connection to an upstream. */
    private final class Upstream implements Http2ClientConnection.Listener {
        final EmbeddedChannel channel = new EmbeddedChannel();
        final Http2ClientConnection connection =
                Http2ClientConnection.create(this, new Pair.Counts(), Pair.wheel(channel), Http2ClientSettings.DEFAULT);

        Upstream() {
            upstreams.add(this);
            channel.freezeTime();
            channel.pipeline().addLast(connection);
            send(frame(Frames.SETTINGS, 0, 0));
        }

        void send(ByteBuf... frames) {
            channel.writeInbound(Buffers.join(frames));
            collect();
        }

        void collect() {
            channel.runPendingTasks();
            channel.releaseOutbound();
        }

        Pair.Exchange ask(String client) {
            Account account = gate.newAccount();
            gate.admitClient(account, client);
            Pair.Exchange exchange = new Pair.Exchange();
            exchange.connection = new ConnectionInfo(
                    0, "test", HttpVersion.HTTP_2, SourceAddress.UNIX, SourceAddress.UNIX, null, null, account);
            exchange.client = connection.open(exchange);
            exchange.stream = exchange.client;
            exchange.client().head(Http2ConnectionsTest.head(Method.GET, "/"), true);
            exchange.client().flush();
            collect();
            return exchange;
        }

        @Override
        public void onReady() {}

        @Override
        public void onCapacityChanged() {}

        @Override
        public void onGoingAway(CloseCause cause) {}

        @Override
        public void onClosed() {}
    }

    private static ByteBuf begun(int stream) {
        return frame(Frames.HEADERS, 0, stream, block(":status", "200", "x", "a".repeat(PIECE - 200)));
    }

    private static ByteBuf ended(int stream) {
        return frame(Frames.CONTINUATION, Frames.END_HEADERS, stream, block("y", "b"));
    }

    private static ByteBuf halfFrame(int stream) {
        ByteBuf frame = frame(Frames.DATA, 0, stream, new byte[PIECE]);
        return frame.writerIndex(frame.writerIndex() - PIECE / 2);
    }

    @Test
    void aHeaderBlockIsChargedUntilItEnds() {
        Upstream upstream = new Upstream();
        Pair.Exchange exchange = upstream.ask("one");
        assertThat(direct.held()).isZero();
        upstream.send(begun(3));
        assertThat(direct.held()).isBetween(PIECE - 200L, PIECE + 100L);
        upstream.send(ended(3));
        assertThat(direct.held()).isZero();
        assertThat(exchange.heads).hasSize(1);
    }

    @Test
    void aPartOfAFrameIsChargedUntilItsRestComes() {
        Upstream upstream = new Upstream();
        Pair.Exchange exchange = upstream.ask("one");
        upstream.send(frame(Frames.HEADERS, Frames.END_HEADERS, 3, block(":status", "200")), halfFrame(3));
        assertThat(direct.held()).isGreaterThanOrEqualTo(PIECE / 2);
        upstream.send(Buffers.of(new byte[PIECE / 2]));
        assertThat(direct.held()).isZero();
        assertThat(exchange.received).isEqualTo(PIECE);
    }

    /** The bytes are there until the upstream goes on. */
    @Test
    void itIsChargedToWhoeverHasGivenUp() {
        Upstream upstream = new Upstream();
        Pair.Exchange exchange = upstream.ask("one");
        Account account = Objects.requireNonNull(exchange.connection).account();
        upstream.send(frame(Frames.HEADERS, Frames.END_HEADERS, 3, block(":status", "200")), halfFrame(3));
        exchange.client().reset(Failure.of(Cause.CLIENT_CLOSED, "gone"));
        upstream.collect();
        assertThat(account.waitingBodies().held()).isGreaterThanOrEqualTo(PIECE / 2);
        upstream.send(Buffers.of(new byte[PIECE / 2]));
        assertThat(direct.held()).isZero();
        assertThat(upstream.channel.isOpen()).isTrue();
    }

    @Test
    void oneClientsResponsesLeaveRoomForAnother() {
        Pair.Exchange greedy;
        do {
            Upstream upstream = new Upstream();
            greedy = upstream.ask("greedy");
            upstream.send(begun(3));
        } while (greedy.failure == null && upstreams.size() < 100);
        assertThat(upstreams.size() * PIECE).isBetween(1 << 18, 1 << 19);
        assertThat(greedy.failed().cause()).isEqualTo(Cause.OVERLOAD);
        assertThat(upstreams.get(upstreams.size() - 1).channel.isOpen()).isFalse();
        assertThat(upstreams.get(0).channel.isOpen()).isTrue();
        Upstream upstream = new Upstream();
        Pair.Exchange other = upstream.ask("other");
        upstream.send(begun(3));
        upstream.send(ended(3));
        assertThat(other.heads).hasSize(1);
    }

    @Test
    void othersOnTheConnectionGoOnIfOneClientHasNoRoom() {
        for (boolean full = false; !full; ) {
            Upstream upstream = new Upstream();
            Pair.Exchange greedy = upstream.ask("greedy");
            upstream.send(begun(3));
            full = greedy.failure != null;
            assertThat(upstreams).hasSizeLessThan(100);
        }
        Upstream shared = new Upstream();
        Pair.Exchange greedy = shared.ask("greedy");
        Pair.Exchange other = shared.ask("other");
        shared.send(begun(3));
        assertThat(greedy.failed().cause()).isEqualTo(Cause.OVERLOAD);
        assertThat(other.failure).isNull();
        shared.send(ended(3), frame(Frames.HEADERS, Frames.END_HEADERS, 5, block(":status", "200")));
        assertThat(other.heads).hasSize(1);
    }

    @Test
    void whatDoesNotFinishIsCutWhenMemoryIsShort() {
        Upstream upstream = new Upstream();
        Pair.Exchange exchange = upstream.ask("one");
        Pair.Exchange other = upstream.ask("other");
        upstream.send(begun(3));
        StalledPeers.ofThisLoop().cut(PIECE / 2, Long.MAX_VALUE, 0);
        upstream.collect();
        assertThat(exchange.failed().cause()).isEqualTo(Cause.OVERLOAD);
        assertThat(other.failed().cause()).isEqualTo(Cause.UPSTREAM_RESET_BEFORE_HEADERS);
        assertThat(upstream.channel.isOpen()).isFalse();
        assertThat(direct.held()).isZero();
    }

    /** Each batch of reads of a download ends within a frame: what waits then has not waited before. */
    @Test
    void whoFinishesFramesIsCutAfterThoseWhoDoNot() {
        Upstream busy = new Upstream();
        Upstream stalled = new Upstream();
        for (Upstream each : List.of(busy, stalled)) {
            each.ask("one");
            each.send(frame(Frames.HEADERS, Frames.END_HEADERS, 3, block(":status", "200")), halfFrame(3));
        }
        busy.send(Buffers.of(new byte[PIECE / 2]), halfFrame(3));
        StalledPeers.ofThisLoop().cut(PIECE / 4, 1, 0);
        assertThat(stalled.channel.isOpen()).isFalse();
        assertThat(busy.channel.isOpen()).isTrue();
    }

    /** It may be large, and nobody could be charged for it. */
    @Test
    void aPartOfAHeaderBlockForNobodyEndsTheConnection() {
        Upstream upstream = new Upstream();
        Pair.Exchange exchange = upstream.ask("one");
        exchange.client().reset(Failure.of(Cause.CLIENT_CLOSED, "gone"));
        upstream.collect();
        assertThat(upstream.channel.isOpen()).isTrue();
        upstream.send(begun(3));
        assertThat(upstream.channel.isOpen()).isFalse();
    }

    @Test
    void aPartOfAFrameForNobodyMayBeCut() {
        Upstream upstream = new Upstream();
        Pair.Exchange exchange = upstream.ask("one");
        upstream.send(frame(Frames.HEADERS, Frames.END_HEADERS, 3, block(":status", "200")));
        exchange.client().reset(Failure.of(Cause.CLIENT_CLOSED, "gone"));
        upstream.send(halfFrame(3));
        assertThat(direct.held()).isZero();
        assertThat(upstream.channel.isOpen()).isTrue();
        StalledPeers.ofThisLoop().cut(PIECE / 4, 1, 0);
        assertThat(upstream.channel.isOpen()).isFalse();
    }
}
