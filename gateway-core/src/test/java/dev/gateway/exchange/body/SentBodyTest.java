package dev.gateway.exchange.body;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is kept of a body for another attempt. */
class SentBodyTest {
    private final MemoryBudget budget = new MemoryBudget(400_000, 1);
    private final LoopBudget loop = new LoopBudget(budget);
    private final Account account = new Account(loop);
    private static final int MOST = 64 * 1024;

    private final SentBody sent = new SentBody(account, MOST);

    @AfterEach
    void forget() {
        sent.forget();
        assertThat(account.held()).isZero();
        assertThat(loop.held()).isZero();
    }

    private static ByteBuf buffer(int capacity, int length) {
        ByteBuf buffer = UnpooledByteBufAllocator.DEFAULT.buffer(capacity);
        for (int i = 0; i < length; i++) {
            buffer.writeByte('a' + i % 26);
        }
        return buffer;
    }

    private void keep(int capacity, int length) {
        ByteBuf data = buffer(capacity, length);
        sent.keep(data);
        data.release();
    }

    private String kept() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < sent.size(); i++) {
            ByteBuf piece = sent.piece(i);
            text.append(piece.toString(StandardCharsets.US_ASCII));
            piece.release();
        }
        return text.toString();
    }

    @Test
    void aPieceThatFillsItsBufferIsKeptWithoutACopy() {
        ByteBuf data = buffer(2000, 1000);
        sent.keep(data);
        assertThat(data.refCnt()).isEqualTo(2);
        assertThat(data.readableBytes()).isEqualTo(1000);
        assertThat(kept()).isEqualTo(data.toString(StandardCharsets.US_ASCII));
        sent.forget();
        assertThat(data.refCnt()).isEqualTo(1);
        data.release();
    }

    @Test
    void aSmallPartOfALargeBufferDoesNotKeepThat() {
        ByteBuf data = buffer(64 * 1024, 100);
        sent.keep(data);
        assertThat(data.refCnt()).isEqualTo(1);
        data.release();
        assertThat(kept()).hasSize(100);
    }

    @Test
    void whatIsKeptFromReuseIsAtMostTwiceWhatIsKept() {
        ByteBuf data = buffer(64 * 1024, 64 * 1024);
        sent.keep(data.slice(0, 16 * 1024));
        assertThat(data.refCnt()).isEqualTo(1);
        assertThat(account.held()).isEqualTo(16 * 1024);
        sent.keep(data.slice(16 * 1024, 32 * 1024));
        assertThat(data.refCnt()).isEqualTo(2);
        assertThat(account.held()).as("with all that it keeps from reuse").isEqualTo(80 * 1024);
        assertThat(kept()).isEqualTo(data.toString(0, 48 * 1024, StandardCharsets.US_ASCII));
        sent.forget();
        data.release();
    }

    /** As while a body waits for a filter, when its pieces are joined. */
    @Test
    void ofPiecesThatWereJoinedTheirWholeBuffersAreCharged() {
        ByteBuf joined = Unpooled.wrappedBuffer(buffer(16_000, 10_000), buffer(8_000, 5_000));
        sent.keep(joined);
        joined.release();
        assertThat(kept()).hasSize(15_000);
        assertThat(account.held()).isEqualTo(24_000);
    }

    @Test
    void smallPiecesShareOneBufferAndStayInOrder() {
        for (int i = 0; i < 500; i++) {
            keep(1024, 3);
        }
        assertThat(sent.size()).isEqualTo(1);
        assertThat(kept()).isEqualTo("abc".repeat(500));
        keep(1024, 1000);
        keep(1024, 3);
        assertThat(sent.size()).isEqualTo(3);
        assertThat(kept()).startsWith("abc".repeat(500)).endsWith("abc").hasSize(2503);
    }

    @Test
    void whatIsTooMuchIsNotKeptAtAll() {
        keep(MOST, MOST);
        assertThat(sent.isWhole()).isTrue();
        assertThat(account.held()).isEqualTo(MOST);
        keep(10, 1);
        assertThat(sent.isWhole()).isFalse();
        assertThat(sent.size()).isZero();
        assertThat(account.held()).isZero();
        keep(10, 1);
        assertThat(sent.size()).isZero();
    }

    /** The stream has 20,000 bytes of the last piece, and then those of the piece before. */
    @Test
    void whatWaitsInTheStreamAsWellIsChargedHere() {
        assertThat(sent.shared(1000)).isZero();
        keep(20_000, 20_000);
        keep(20_000, 20_000);
        assertThat(account.held()).isEqualTo(40_000);
        assertThat(sent.shared(20_000)).isEqualTo(20_000);
        assertThat(sent.shared(35_000)).isEqualTo(35_000);
        assertThat(sent.shared(50_000)).isEqualTo(40_000);
        sent.forget();
        assertThat(sent.shared(20_000)).isZero();
    }

    @Test
    void copiesAreChargedBesides() {
        keep(20_000, 20_000);
        keep(20_000, 1_000); // a copy here
        assertThat(sent.shared(1_000)).isZero();
        assertThat(sent.shared(6_000)).isEqualTo(5_000);
        keep(2_000, 2_000); // most streams copy so little
        assertThat(sent.shared(2_000)).isZero();
        assertThat(sent.shared(8_000)).isEqualTo(5_000);
    }

    @Test
    void halfOfTheBudgetIsLeftToRequestsThemselves() {
        List<SentBody> all = new ArrayList<>();
        ByteBuf data = buffer(60_000, 60_000);
        SentBody last;
        do {
            last = new SentBody(new Account(loop), MOST);
            all.add(last);
            last.keep(data);
        } while (last.isWhole());
        assertThat(loop.held()).isEqualTo(180_000);
        assertThat(loop.tryCharge(200_000)).isTrue();
        loop.release(200_000);
        all.forEach(SentBody::forget);
        data.release();
    }

    @Test
    void oneClientDoesNotKeepAllThatThereIsForCopies() {
        keep(40_000, 40_000);
        SentBody other = new SentBody(account, MOST);
        account.charge(100_000);
        ByteBuf data = buffer(60_000, 60_000);
        other.keep(data);
        data.release();
        assertThat(other.isWhole()).isFalse();
        assertThat(sent.isWhole()).isTrue();
        account.release(100_000);
    }
}
