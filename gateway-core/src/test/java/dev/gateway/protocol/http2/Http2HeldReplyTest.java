package dev.gateway.protocol.http2;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.overload.LoopGate;
import dev.gateway.overload.Overload;
import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.Cost;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.overload.memory.SharedBytes;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.SourceAddress;
import dev.gateway.testing.Blockade;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a stream holds is charged until its client has taken it, although its exchange has ended. */
class Http2HeldReplyTest {
    private static final int CAPACITY = 1 << 20;
    private static final int BODY = 60_000;
    private static final int MERGED = 4096; // a buffer into which short pieces are merged

    private final LoopBudget heap = new LoopBudget(new MemoryBudget(CAPACITY, 1));
    private final LoopBudget direct = new LoopBudget(new MemoryBudget(CAPACITY, 1));
    private final Account account = new Account(heap, direct);
    private final RawClient client = new RawClient(info(), Http2ServerSettings.DEFAULT, true);

    private ConnectionInfo info() {
        SourceAddress address = SourceAddress.of(null);
        return new ConnectionInfo(0, "test", HttpVersion.HTTP_2, address, address, null, null, account);
    }

    @AfterEach
    void nothingIsHeldAnyMore() {
        client.close();
        assertThat(heap.held()).isZero();
        assertThat(direct.held()).isZero();
    }

    private ServerStream stream() {
        return Objects.requireNonNull(client.request(0).server);
    }

    private void ask() {
        client.send(Frames.SETTINGS, 0, 0, new byte[] {0, 4, 0, 0, 0, 0}); // no window
        client.send(Frames.HEADERS, Frames.END_HEADERS | Frames.END_STREAM, 1, Frames.get());
    }

    private void answer(ByteBuf body) {
        ask();
        stream().head(new ResponseHead(403, null, new Fields(), body.readableBytes()), false);
        stream().data(body, true);
        stream().flush();
        client.collect();
    }

    @Test
    void aReplyOnTheHeapIsChargedUntilItIsTaken() {
        answer(Unpooled.wrappedBuffer(new byte[BODY]));
        assertThat(heap.held()).isBetween((long) BODY, BODY + 2 * Cost.STREAM);
        client.send(Frames.WINDOW_UPDATE, 0, 1, Frames.number(BODY / 2));
        assertThat(heap.held()).isGreaterThan(BODY);
        client.send(Frames.WINDOW_UPDATE, 0, 1, Frames.number(BODY / 2));
        assertThat(heap.held()).isZero();
    }

    @Test
    void aReplyInDirectMemoryIsChargedUntilItsStreamIsReset() {
        answer(client.channel.alloc().directBuffer(BODY).writeZero(BODY));
        assertThat(direct.held()).isEqualTo(BODY);
        client.send(Frames.RST_STREAM, 0, 1, Frames.number(8));
        assertThat(direct.held()).isZero();
    }

    /** No exchange and no stream is left, and the connection has room for more. */
    @Test
    void whatAConnectionWithRoomHoldsOfAnEndedResponseIsCharged() {
        client.send(Frames.HEADERS, Frames.END_HEADERS | Frames.END_STREAM, 1, Frames.get());
        Blockade blockade = new Blockade(client.channel);
        stream().head(new ResponseHead(200, null, new Fields(), 10_000), false);
        stream().data(client.channel.alloc().directBuffer(10_000).writeZero(10_000), true);
        stream().flush();
        client.channel.runPendingTasks();
        assertThat(client.channel.isWritable()).isTrue();
        assertThat(direct.held()).isBetween(10_000L, 11_000L);
        blockade.lift();
        assertThat(direct.held()).isZero();
    }

    @Test
    void aResponseThatHasNotEndedTellsTheMemoryThatWaits() {
        ask();
        stream().head(new ResponseHead(200, null, new Fields(), BODY), false);
        stream().data(client.channel.alloc().directBuffer(BODY).writeZero(40_000), false); // read into a large buffer
        assertThat(stream().unsent()).isEqualTo(BODY);
        client.send(Frames.WINDOW_UPDATE, 0, 1, Frames.number(40_000));
        assertThat(stream().unsent()).isZero();
    }

    /** Whatever comes in whichever pieces, while the client opens its window or does not. */
    @Test
    void whatAStreamTellsIsTheMemoryThatItHolds() {
        UnpooledByteBufAllocator memory = new UnpooledByteBufAllocator(true);
        client.channel.config().setAllocator(memory);
        ask();
        stream().head(new ResponseHead(200, null, new Fields(), RequestHead.UNKNOWN_LENGTH), false);
        long idle = memory.metric().usedDirectMemory();
        Random random = new Random(1);
        long sent = 0;
        long open = 0;
        for (int i = 0; i < 3000; i++) {
            int size = 1 + random.nextInt(random.nextBoolean() ? 300 : 40_000);
            ByteBuf read = memory.directBuffer(size, size).writeZero(size);
            read.skipBytes(random.nextInt(size));
            int slices = random.nextInt(3);
            for (int j = 0; j < slices && read.isReadable(); j++) {
                int length = 1 + random.nextInt(read.readableBytes());
                sent += length;
                stream().data(read.readRetainedSlice(length), false);
                read.skipBytes(random.nextInt(read.readableBytes() + 1)); // what is another stream's
            }
            read.release();
            stream().flush();
            if (random.nextInt(10) == 0 && sent > open) {
                int more = 1 + random.nextInt((int) (sent - open));
                open += more;
                client.send(Frames.WINDOW_UPDATE, 0, 0, Frames.number(more));
                client.send(Frames.WINDOW_UPDATE, 0, 1, Frames.number(more));
            }
            client.collect();
            long held = memory.metric().usedDirectMemory() - idle;
            assertThat(stream().unsent()).as("piece %s", i).isBetween(held * 4 / 5 - MERGED, held * 6 / 5 + MERGED);
        }
        client.send(Frames.WINDOW_UPDATE, 0, 0, Frames.number((int) (sent - open) + 1));
        client.send(Frames.WINDOW_UPDATE, 0, 1, Frames.number((int) (sent - open) + 1));
        assertThat(stream().unsent()).isZero();
        assertThat(memory.metric().usedDirectMemory() - idle).isLessThanOrEqualTo(100);
        stream().data(memory.directBuffer(100_000).writeZero(100_000), true);
        stream().flush();
        client.send(Frames.RST_STREAM, 0, 1, Frames.number(8));
        client.received.clear();
    }

    /** A few bytes at the end of a large buffer say nothing about the pieces before them. */
    @Test
    void aShortPieceKeepsItsOwnBufferAndNoMore() {
        ask();
        stream().head(new ResponseHead(200, null, new Fields(), BODY + 5), false);
        stream().data(client.channel.alloc().directBuffer(BODY, BODY).writeZero(BODY), false);
        ByteBuf read = client.channel.alloc().directBuffer(16_384, 16_384).writeZero(16_384);
        stream().data(read.readerIndex(16_379).readRetainedSlice(5), false);
        assertThat(stream().unsent()).isEqualTo(BODY + 5); // it was copied
        assertThat(read.refCnt()).isEqualTo(1);
        read.release();
        assertThat(stream().unsent()).isEqualTo(BODY + 5);
        client.send(Frames.WINDOW_UPDATE, 0, 1, Frames.number(BODY));
        assertThat(stream().unsent()).isEqualTo(5);
        client.send(Frames.WINDOW_UPDATE, 0, 1, Frames.number(5));
        assertThat(stream().unsent()).isZero();
    }

    @Test
    void aPieceCountsWithWhatOthersHaveLetGoOfSinceItCame() {
        ask();
        stream().head(new ResponseHead(200, null, new Fields(), 20_000), false);
        ByteBuf read = client.channel.alloc().directBuffer(16_384, 16_384).writeZero(16_384);
        stream().data(read.readRetainedSlice(10_000), false);
        read.release();
        stream().data(client.channel.alloc().directBuffer(10_000, 10_000).writeZero(10_000), false);
        assertThat(stream().unsent()).isEqualTo(26_384);
        client.send(Frames.WINDOW_UPDATE, 0, 1, Frames.number(10_000));
        assertThat(stream().unsent()).isEqualTo(10_000);
        client.send(Frames.WINDOW_UPDATE, 0, 1, Frames.number(10_000));
        assertThat(stream().unsent()).isZero();
    }

    @Test
    void aReplyIsChargedUntilItsConnectionCloses() {
        answer(Unpooled.wrappedBuffer(new byte[BODY]));
        client.channel.close();
        assertThat(heap.held()).isZero();
    }

    /** Its connection is that of a proxy, whose clients have shares of their own. */
    @Test
    void aReplyCountsForTheClientThatAProxyNames() {
        LoopGate gate = new LoopGate(new Overload(), heap, direct);
        Account named = Objects.requireNonNull(gate.accountOf("a client"));
        ask();
        stream().countFor(named);
        stream().head(new ResponseHead(403, null, new Fields(), BODY), false);
        stream().data(Unpooled.wrappedBuffer(new byte[BODY]), true);
        stream().flush();
        named.leave(); // its exchange has ended
        assertThat(account.held()).isZero();
        assertThat(named.held()).isGreaterThan(BODY);
        assertThat(Objects.requireNonNull(gate.accountOf("a client")).client()).isSameAs(named.client());
        client.send(Frames.WINDOW_UPDATE, 0, 1, Frames.number(BODY));
        assertThat(named.held()).isZero();
    }

    @Test
    void whatAllRepliesShareIsNotChargedToAny() {
        answer(SharedBytes.of(new byte[BODY]));
        assertThat(heap.held()).isBetween(1L, 2 * Cost.STREAM);
    }

    @Test
    void aBodyThatTheClientDoesNotTakeAtOnceNeedsRoom() {
        ask();
        ByteBuf body = Unpooled.wrappedBuffer(new byte[BODY]);
        assertThat(stream().hasRoomFor(body)).isTrue();
        heap.charge(CAPACITY - BODY);
        assertThat(stream().hasRoomFor(body)).isFalse();
        assertThat(stream().hasRoomFor(SharedBytes.of(new byte[BODY]))).isTrue();
        client.send(Frames.WINDOW_UPDATE, 0, 1, Frames.number(BODY));
        assertThat(stream().hasRoomFor(body)).isTrue();
        heap.release(CAPACITY - BODY);
        stream().head(new ResponseHead(200, null, new Fields(), 0), true);
    }
}
