package dev.gateway.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How much of what a peer sends may wait. */
class ReadCreditTest {
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private boolean ample = true;
    private final ReadCredit credit = new ReadCredit(channel, () -> ample);

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private boolean reads() {
        return channel.config().isAutoRead();
    }

    @Test
    void readingStopsAtTheWatermarkAndGoesOnWellBelowIt() {
        credit.received(ReadCredit.HIGH / 2);
        assertThat(reads()).isTrue();
        credit.received(ReadCredit.HIGH / 2);
        assertThat(reads()).isFalse();
        credit.consumed(ReadCredit.HIGH / 4);
        assertThat(reads()).isFalse();
        credit.consumed(ReadCredit.HIGH / 2);
        assertThat(reads()).isTrue();
    }

    @Test
    void readingStopsEarlierWhileMemoryIsNotAmple() {
        ample = false;
        credit.received(ReadCredit.SCANT / 2);
        assertThat(reads()).isTrue();
        credit.received(ReadCredit.SCANT / 2);
        assertThat(reads()).isFalse();
        credit.consumed(1);
        assertThat(reads()).as("a consumer that takes a byte has no room").isFalse();
        credit.consumed(ReadCredit.SCANT - 1);
        assertThat(reads()).isTrue();
    }

    @Test
    void whoRestsReadsNothingWhateverElseIsAllowed() {
        credit.suspend(true);
        assertThat(reads()).isFalse();
        assertThat(credit.isPaused()).isTrue();
        credit.hold();
        credit.release();
        credit.reset();
        assertThat(reads()).isFalse();
        credit.suspend(false);
        assertThat(reads()).isTrue();
    }

    @Test
    void manySmallPiecesStopReadingThoughTheirBytesAreFew() {
        int pieces = 0;
        while (reads() && pieces < 10_000) {
            credit.received(1);
            pieces++;
        }
        assertThat(pieces).isBetween(100, 1_000);
        credit.consumed(pieces / 4);
        assertThat(reads()).isFalse();
        credit.consumed(pieces / 2);
        assertThat(reads()).isTrue();
        credit.consumed(pieces - pieces / 4 - pieces / 2);
        for (int i = 1; i < pieces; i++) {
            credit.received(1);
        }
        assertThat(reads()).as("nothing was left owed").isTrue();
    }

    @Test
    void whatOneStreamOwesDoesNotStarveTheNext() {
        for (int i = 0; i < 1_000; i++) {
            credit.received(1);
        }
        assertThat(reads()).isFalse();
        credit.reset();
        assertThat(reads()).isTrue();
        credit.received(ReadCredit.HIGH / 2);
        assertThat(reads()).isTrue();
    }

    @Test
    void aHoldOutlastsCredit() {
        credit.hold();
        credit.received(1);
        credit.consumed(1);
        assertThat(reads()).isFalse();
        credit.release();
        assertThat(reads()).isTrue();
    }
}
