package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.overload.Cost;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Bytes that wait, and what they are charged to. */
class HeldBodyTest extends PartRig {
    private HeldBody held() {
        return new HeldBody(owner, exchange().held);
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
