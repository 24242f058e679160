package dev.gateway.protocol.http2;

import static dev.gateway.protocol.http2.Frames.frame;
import static dev.gateway.protocol.http2.Frames.get;
import static dev.gateway.protocol.http2.Frames.post;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.overload.LoopGate;
import dev.gateway.overload.Overload;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.overload.memory.StalledPeers;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.SourceAddress;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Parts of frames and of header blocks, which wait for their rest in direct memory, are charged to their client. */
class Http2UnfinishedInputTest {
    private static final int PIECE = 16 * 1024;
    private static final int ENHANCE_YOUR_CALM = 11;

    private final LoopBudget direct = new LoopBudget(new MemoryBudget(1 << 20, 1));
    private final LoopGate gate = new LoopGate(new Overload(), new LoopBudget(new MemoryBudget(16 << 20, 1)), direct);
    private final List<RawClient> clients = new ArrayList<>();

    @AfterEach
    void nothingIsCharged() {
        clients.forEach(RawClient::close);
        assertThat(direct.held()).isZero();
    }

    private RawClient connect(String client) {
        Account account = gate.newAccount();
        gate.admitClient(account, client);
        ConnectionInfo info = new ConnectionInfo(
                0, "test", HttpVersion.HTTP_2, SourceAddress.UNIX, SourceAddress.UNIX, null, null, account);
        RawClient made = new RawClient(info, Http2ServerSettings.DEFAULT, true);
        clients.add(made);
        return made;
    }

    private static ByteBuf begun() {
        return frame(Frames.HEADERS, Frames.END_STREAM, 1, get("x", "a".repeat(PIECE - 200)));
    }

    private static ByteBuf continued(int flags) {
        return frame(Frames.CONTINUATION, flags, 1, Frames.block("y", "b".repeat(PIECE / 4)));
    }

    @Test
    void aHeaderBlockIsChargedUntilItEnds() {
        RawClient client = connect("one");
        assertThat(direct.held()).isZero();
        client.send(begun());
        assertThat(direct.held()).isBetween(PIECE - 200L, PIECE + 100L);
        client.send(continued(0));
        assertThat(direct.held()).isBetween(PIECE * 5 / 4 - 200L, PIECE * 5 / 4 + 100L);
        client.send(continued(Frames.END_HEADERS));
        assertThat(direct.held()).isZero();
        assertThat(client.counts.violations).isEmpty();
        assertThat(client.recorder.requests).hasSize(1);
    }

    /** All of a block but its last byte: what is in Netty's buffer, and what waits in ours. */
    @Test
    void theLastFrameOfAHeaderBlockIsChargedWithTheOthers() {
        RawClient client = connect("one");
        client.send(begun());
        ByteBuf last = Buffers.join(continued(Frames.END_HEADERS));
        client.send(Buffers.join(last.readRetainedSlice(last.readableBytes() - 1)));
        assertThat(direct.held()).isGreaterThan(PIECE * 5 / 4 - 200L);
        client.send(last);
        assertThat(direct.held()).isZero();
        assertThat(client.recorder.requests).hasSize(1);
    }

    @Test
    void aPartOfAFrameIsChargedUntilItsRestComes() {
        RawClient client = connect("one");
        client.send(Frames.HEADERS, Frames.END_HEADERS, 1, post());
        assertThat(direct.held()).isZero();
        ByteBuf data = Buffers.join(frame(Frames.DATA, 0, 1, new byte[PIECE]));
        client.send(Buffers.join(data.readRetainedSlice(PIECE)));
        assertThat(direct.held()).isGreaterThanOrEqualTo(PIECE - 9L);
        client.send(data);
        assertThat(direct.held()).isZero();
    }

    @Test
    void aPartOfTheFirstFrameIsCharged() {
        RawClient client = new RawClient(info(), Http2ServerSettings.DEFAULT, false);
        clients.add(client);
        ByteBuf preface = Buffers.join(Frames.preface());
        client.send(Buffers.join(preface.readRetainedSlice(24 + 3)));
        assertThat(direct.held()).isPositive();
        client.send(preface);
        assertThat(direct.held()).isZero();
    }

    private ConnectionInfo info() {
        return new ConnectionInfo(
                0, "test", HttpVersion.HTTP_2, SourceAddress.UNIX, SourceAddress.UNIX, null, null, gate.newAccount());
    }

    @Test
    void itIsChargedUntilTheConnectionCloses() {
        RawClient client = connect("one");
        client.send(begun());
        client.close();
        assertThat(direct.held()).isZero();
    }

    @Test
    void oneClientsHeaderBlocksLeaveRoomForAnother() {
        RawClient greedy = connect("greedy");
        int open = 0;
        for (; greedy.counts.violations.isEmpty() && open < 100; open++) {
            greedy = connect("greedy");
            greedy.send(begun());
        }
        assertThat(open * PIECE).isBetween(1 << 18, 1 << 19);
        assertThat(greedy.counts.violations).containsExactly(Http2Violation.UNFINISHED_INPUT.kind());
        assertThat(greedy.goAway()).isEqualTo(ENHANCE_YOUR_CALM);
        assertThat(greedy.channel.isOpen()).isFalse();
        RawClient other = connect("other");
        other.send(begun());
        other.send(continued(Frames.END_HEADERS));
        assertThat(other.counts.violations).isEmpty();
        assertThat(other.recorder.requests).hasSize(1);
    }

    @Test
    void whoDoesNotFinishIsCutWhenMemoryIsShort() {
        RawClient client = connect("one");
        client.send(begun());
        StalledPeers.ofThisLoop().cut(PIECE / 2, Long.MAX_VALUE, 0);
        client.collect();
        assertThat(client.counts.violations).containsExactly(Http2Violation.UNFINISHED_INPUT.kind());
        assertThat(client.channel.isOpen()).isFalse();
        assertThat(direct.held()).isZero();
    }

    /** Each batch of reads of an upload ends within a frame: what waits then has not waited before. */
    @Test
    void whoFinishesFramesIsCutAfterThoseWhoDoNot() {
        RawClient busy = connect("one");
        RawClient stalled = connect("one");
        for (RawClient each : List.of(busy, stalled)) {
            each.send(Frames.HEADERS, Frames.END_HEADERS, 1, post());
            each.send(halfFrame());
        }
        busy.send(Buffers.of(new byte[PIECE / 2]), halfFrame());
        StalledPeers.ofThisLoop().cut(PIECE / 2, 1, 0);
        assertThat(stalled.channel.isOpen()).isFalse();
        assertThat(busy.channel.isOpen()).isTrue();
    }

    private static ByteBuf halfFrame() {
        ByteBuf frame = frame(Frames.DATA, 0, 1, new byte[PIECE]);
        return frame.writerIndex(frame.writerIndex() - PIECE / 2);
    }
}
