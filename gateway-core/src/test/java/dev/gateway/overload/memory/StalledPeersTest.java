package dev.gateway.overload.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Who is cut when memory runs out, and who is not. */
class StalledPeersTest {
    private static final long SECOND = 1_000_000_000L;

    private long now = 17;
    private final StalledPeers stalled = new StalledPeers(() -> now);
    private final List<String> cut = new ArrayList<>();

    private final class Client extends StalledPeers.Holder {
        private final String name;
        private final Object connection;
        private final long held;
        private long heap;
        private StalledPeers.Holder endsWith = this;

        Client(String name, Object connection, long held) {
            this.name = name;
            this.connection = connection;
            this.held = held;
            stalled.add(this);
        }

        @Override
        protected long held() {
            return held;
        }

        @Override
        protected long heldHeap() {
            return heap;
        }

        @Override
        protected Object culprit() {
            return connection;
        }

        @Override
        protected void cut() {
            cut.add(name);
            endsWith.resume();
        }
    }

    private long cut(long least, long wanted) {
        return stalled.cut(least, wanted, SECOND);
    }

    @Test
    void theLargestIsCutFirst() {
        new Client("small", "a", 10);
        new Client("large", "b", 30);
        new Client("middle", "c", 20);
        now += SECOND;
        assertThat(cut(0, 50)).isEqualTo(50);
        assertThat(cut).containsExactly("large", "middle");
        assertThat(cut(0, 1)).isEqualTo(10);
        assertThat(cut).containsExactly("large", "middle", "small");
        assertThat(cut(0, 1)).isZero();
    }

    @Test
    void whatOneClientHoldsCountsTogetherAndWhatHasWaitedLongestGoesFirst() {
        new Client("alone", "a", 25);
        new Client("first of three", "b", 10);
        now++;
        new Client("second of three", "b", 11);
        now++;
        new Client("third of three", "b", 12);
        now += SECOND;
        cut(0, 20);
        assertThat(cut).containsExactly("first of three", "second of three");
    }

    /** The requests of a client that wait for an upstream count, and what it holds on other event loops. */
    @Test
    void ofTheHeapAClientCountsWithAllThatItHolds() {
        ClientMemory most = new ClientMemory("most");
        most.heap().add(1_000);
        ClientMemory less = new ClientMemory("less");
        less.heap().add(500);
        new Client("of less", less, 0).heap = 400;
        new Client("of most", most, 0).heap = 10;
        new Client("of nobody", "a", 0).heap = 600;
        now += SECOND;
        assertThat(stalled.cut(StalledPeers.Memory.HEAP, 500, 1_000, SECOND, () -> {}))
                .isEqualTo(1_010);
        assertThat(cut).containsExactly("of most", "of nobody", "of less");
    }

    /** It may have the other kind of memory. */
    @Test
    void whoHoldsNothingOfTheMemoryIsLeft() {
        new Client("nothing", "a", 0);
        new Client("something", "a", 10);
        now += SECOND;
        assertThat(cut(0, 50)).isEqualTo(10);
        assertThat(cut).containsExactly("something");
    }

    @Test
    void whoHoldsLessThanTheLeastIsLeft() {
        new Client("small", "a", 10);
        new Client("large", "b", 30);
        now += SECOND;
        assertThat(cut(20, 1_000)).isEqualTo(30);
        assertThat(cut).containsExactly("large");
    }

    @Test
    void whoHasJustStalledOrHasRoomAgainIsLeft() {
        new Client("long", "a", 10);
        Client resumed = new Client("resumed", "b", 20);
        now += SECOND;
        new Client("just now", "c", 30);
        resumed.resume();
        resumed.resume();
        cut(0, 1_000);
        assertThat(cut).containsExactly("long");
    }

    @Test
    void cuttingOneMayEndAnother() {
        Client other = new Client("other", "b", 10);
        new Client("one", "a", 30).endsWith = other;
        now += SECOND;
        cut(0, 1_000);
        assertThat(cut).containsExactly("one");
    }
}
