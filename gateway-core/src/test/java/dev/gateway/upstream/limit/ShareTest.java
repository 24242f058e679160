package dev.gateway.upstream.limit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.testing.Race;
import org.junit.jupiter.api.Test;

/** What one endpoint takes of what is kept for it, and of the rest that is for all. */
class ShareTest {
    private final CircuitBreakerLimit rest = new CircuitBreakerLimit(2);
    private final Share share = new Share(rest, 1);

    @Test
    void whatIsKeptForItIsTakenFirstAndGivenBackLast() {
        assertThat(share.tryAcquire()).isTrue();
        assertThat(share.isBeyondKept()).isFalse();
        assertThat(rest.taken()).isZero();
        assertThat(share.tryAcquire()).isTrue();
        assertThat(share.isBeyondKept()).isTrue();
        assertThat(rest.taken()).isEqualTo(1);
        assertThat(share.taken()).isEqualTo(2);
        share.release();
        assertThat(share.isBeyondKept()).isFalse();
        assertThat(rest.taken()).isZero();
        share.release();
        assertThat(rest.taken()).isZero();
        assertThat(share.taken()).isZero();
    }

    @Test
    void thereIsRoomAsLongAsSomethingIsKeptOrLeft() {
        rest.add(2); // others have all the rest
        assertThat(share.hasRoom()).isTrue();
        assertThat(share.tryAcquire()).isTrue();
        assertThat(share.hasRoom()).isFalse();
        assertThat(share.tryAcquire()).isFalse();
        rest.release();
        assertThat(share.hasRoom()).isTrue();
        assertThat(share.tryAcquire()).isTrue();
        assertThat(share.hasRoom()).isFalse();
        assertThat(rest.taken()).isEqualTo(2);
    }

    @Test
    void whatIsRefusedTakesNothingOfTheRest() {
        share.keep(0, 1);
        assertThat(share.hasRoom()).isTrue();
        assertThat(share.tryAcquire()).isTrue();
        assertThat(share.hasRoom()).as("it may have no more than one").isFalse();
        assertThat(share.tryAcquire()).isFalse();
        assertThat(rest.taken()).isEqualTo(1);
        share.release();
        assertThat(rest.taken()).isZero();
    }

    @Test
    void whoTakesOneInAnyCaseTakesItOfTheRestOnlyIfNothingIsKept() {
        share.acquireBeyond();
        assertThat(rest.taken()).isZero();
        assertThat(share.isExceeded()).isFalse();
        share.acquireBeyond();
        share.acquireBeyond();
        assertThat(rest.taken()).isEqualTo(2);
        assertThat(share.isExceeded()).isFalse();
        share.acquireBeyond();
        assertThat(rest.taken()).isEqualTo(3);
        assertThat(share.isExceeded()).isTrue();
        for (int i = 0; i < 4; i++) {
            share.release();
        }
        assertThat(rest.taken()).isZero();
        assertThat(share.isExceeded()).isFalse();
    }

    @Test
    void whoHasNoMoreThanIsKeptDoesNotExceedWhatOthersHaveTooMuchOf() {
        rest.add(5);
        assertThat(share.tryAcquire()).isTrue();
        assertThat(share.isExceeded()).isFalse();
    }

    @Test
    void whatItHasBeyondWhatIsKeptAlwaysComesFromTheRest() {
        for (int i = 0; i < 3; i++) {
            share.acquireBeyond();
        }
        assertThat(rest.taken()).isEqualTo(2);
        share.keep(2, 9);
        assertThat(rest.taken()).isEqualTo(1);
        share.keep(5, 9);
        assertThat(rest.taken()).isZero();
        share.keep(3, 9);
        assertThat(rest.taken()).isZero();
        share.keep(0, 9);
        assertThat(rest.taken()).isEqualTo(3);
        assertThat(share.taken()).isEqualTo(3);
        for (int i = 0; i < 3; i++) {
            share.release();
        }
        assertThat(rest.taken()).isZero();
    }

    /** Who is slower has taken of the rest before it sees that somebody else was faster, and must not do so twice. */
    @Test
    void twoThatTakeAtTheSameTimeTakeTwoOfTheRest() throws InterruptedException {
        share.keep(0, 9);
        Race.assertOneWinner(share::tryAcquire, () -> !share.tryAcquire(), () -> {
            assertThat(rest.taken()).isEqualTo(2);
            share.release();
            share.release();
            assertThat(rest.taken()).isZero();
        });
    }

    /** What is given back in the last moment is taken instead of what was for all. */
    @Test
    void nothingOfTheRestIsLostWhileAnotherGivesBack() throws InterruptedException {
        assertThat(share.tryAcquire()).isTrue();
        Race.assertOneWinner(() -> !giveBack(), share::tryAcquire, () -> {
            assertThat(rest.taken()).isZero();
            assertThat(share.taken()).isEqualTo(1);
        });
    }

    private boolean giveBack() {
        share.release();
        return true;
    }
}
