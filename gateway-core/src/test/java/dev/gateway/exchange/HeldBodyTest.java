package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.exchange.body.HeldBody;
import dev.gateway.overload.memory.Cost;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Bytes that wait, and what they are charged to. */
class HeldBodyTest extends PartRig {
    private HeldBody held() {
        return new HeldBody(context, exchange().held);
    }

    private static String take(HeldBody from) {
        ByteBuf first = Objects.requireNonNull(from.poll());
        String text = first.toString(StandardCharsets.UTF_8);
        first.release();
        return text;
    }

    @Test
    void piecesComeOutAsTheyWentIn() {
        HeldBody held = held();
        assertThat(held.isEmpty()).isTrue();
        assertThat(held.tryAdd(bytes("ab"))).isTrue();
        assertThat(held.tryAdd(bytes("c"))).isTrue();
        assertThat(held.isEmpty()).isFalse();
        assertThat(take(held)).isEqualTo("ab");
        assertThat(take(held)).isEqualTo("c");
        assertThat(held.isEmpty()).isTrue();
        assertThat(held.poll()).isNull();
    }

    @Test
    void eachPieceIsChargedAndItsBytesToo() {
        HeldBody held = held();
        held.tryAdd(bytes("ab"));
        held.tryAdd(bytes("cde"));
        assertThat(exchange().held.bytes()).isEqualTo(2 * Cost.PIECE);
        assertThat(bodies.held()).isEqualTo(5);
        take(held);
        assertThat(bodies.held()).isEqualTo(3);
        take(held);
        assertThat(exchange().held.bytes()).isZero();
        assertThat(bodies.held()).isZero();
    }

    @Test
    void aPieceForWhoseBytesThereIsNoRoomStaysWithItsOwner() {
        HeldBody held = held();
        ByteBuf large = bytes("a".repeat(1 << 16));
        assertThat(held.tryAdd(large)).isFalse();
        assertThat(held.isEmpty()).isTrue();
        assertThat(large.refCnt()).isEqualTo(1);
        assertThat(exchange().held.bytes()).isZero();
        large.release();
    }

    @Test
    void aPieceForWhichTheHeapHasNoRoomIsNotCharged() {
        client.account.charge(1 << 20);
        HeldBody held = held();
        ByteBuf piece = bytes("a");
        assertThat(held.tryAdd(piece)).isFalse();
        assertThat(bodies.held()).isZero();
        piece.release();
        client.account.release(1 << 20);
    }

    @Test
    void allOfItIsOneBufferForWhoeverLooksAtIt() {
        HeldBody held = held();
        assertThat(held.merged().isReadable()).isFalse();
        held.tryAdd(bytes("ab"));
        assertThat(held.merged().toString(StandardCharsets.UTF_8)).isEqualTo("ab");
        held.tryAdd(bytes("cd"));
        assertThat(held.merged().toString(StandardCharsets.UTF_8)).isEqualTo("abcd");
        held.tryAdd(bytes("e"));
        assertThat(held.merged().toString(StandardCharsets.UTF_8)).isEqualTo("abcde");
        assertThat(bodies.held()).isEqualTo(5);
        assertThat(take(held)).isEqualTo("abcde");
        assertThat(exchange().held.bytes()).isZero();
    }

    /** The head before it may be long, and so may be what the client sends after it. */
    @Test
    void aShortPieceKeepsNothingElseOfItsBuffer() {
        HeldBody held = held();
        ByteBuf end = bytes("x".repeat(30_000)).skipBytes(29_990);
        assertThat(held.tryAdd(end)).isTrue();
        assertThat(end.refCnt()).isZero();
        ByteBuf read = bytes("x".repeat(30_000));
        assertThat(held.tryAdd(read.readRetainedSlice(1000))).isTrue();
        assertThat(read.refCnt()).isEqualTo(1);
        assertThat(bodies.held()).isEqualTo(1010);
        assertThat(take(held)).hasSize(10);
        assertThat(bodies.held()).isEqualTo(1000);
        held.discard();
        read.release();
    }

    /** Pieces come and go, whole buffers and parts of some, merged or not. */
    @Test
    void theChargeIsTheMemory() {
        UnpooledByteBufAllocator memory = new UnpooledByteBufAllocator(true);
        Random random = new Random(1);
        HeldBody held = held();
        for (int i = 0; i < 3000; i++) {
            int size = 1 + random.nextInt(random.nextBoolean() ? 100 : 4000);
            ByteBuf read = memory.directBuffer(size, size).writeZero(size);
            read.skipBytes(random.nextInt(size));
            if (random.nextBoolean() && read.isReadable()) {
                ByteBuf piece = read.readRetainedSlice(1 + random.nextInt(read.readableBytes()));
                if (!held.tryAdd(piece)) {
                    piece.release();
                }
            }
            read.release();
            if (random.nextInt(5) == 0) {
                held.merged();
            }
            for (int j = random.nextInt(3); j > 0 && !held.isEmpty(); j--) {
                take(held);
            }
            long used = memory.metric().usedDirectMemory();
            assertThat(bodies.held()).as("piece %s", i).isBetween(used * 4 / 5, used * 6 / 5);
        }
        held.discard();
        assertThat(memory.metric().usedDirectMemory()).isZero();
    }

    @Test
    void aLongPieceIsChargedWithAllOfItsBuffer() {
        HeldBody held = held();
        ByteBuf read = bytes("x".repeat(10_000)).skipBytes(2000);
        assertThat(held.tryAdd(read.readRetainedSlice(6000))).isTrue();
        read.release();
        assertThat(bodies.held()).isEqualTo(10_000);
        held.discard();
        assertThat(bodies.held()).isZero();
    }

    @Test
    void whatIsHeldIsCutWhenMemoryRunsLow() {
        HeldBody held = held();
        held.tryAdd(bytes("abc"));
        assertThat(stalled()).isEqualTo(3);
        assertThat(told).containsExactly("failed: overload");
        held.discard();
    }

    @Test
    void whatWasTakenOrDiscardedIsNotCut() {
        HeldBody held = held();
        held.tryAdd(bytes("abc"));
        take(held);
        assertThat(stalled()).isZero();
        held.tryAdd(bytes("abc"));
        held.discard();
        assertThat(stalled()).isZero();
        assertThat(told).isEmpty();
    }
}
