package dev.gateway.overload;

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
        protected Object culprit() {
            return connection;
        }

        @Override
        protected void cut() {
            cut.add(name);
            endsWith.resume();
        }
    }

    @Test
    void theLargestIsCutFirst() {
        new Client("small", "a", 10);
        new Client("large", "b", 30);
        new Client("middle", "c", 20);
        now += SECOND;
        assertThat(stalled.cut(0, 50, SECOND)).isEqualTo(50);
        assertThat(cut).containsExactly("large", "middle");
        assertThat(stalled.cut(0, 1, SECOND)).isEqualTo(10);
        assertThat(cut).containsExactly("large", "middle", "small");
        assertThat(stalled.cut(0, 1, SECOND)).isZero();
    }

    @Test
    void whatOneConnectionHoldsCountsTogether() {
        new Client("alone", "a", 25);
        new Client("first of three", "b", 10);
        new Client("second of three", "b", 11);
        new Client("third of three", "b", 12);
        now += SECOND;
        stalled.cut(0, 20, SECOND);
        assertThat(cut).containsExactly("third of three", "second of three");
    }

    @Test
    void whoHoldsLessThanTheLeastIsLeft() {
        new Client("small", "a", 10);
        new Client("large", "b", 30);
        now += SECOND;
        assertThat(stalled.cut(20, 1_000, SECOND)).isEqualTo(30);
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
        stalled.cut(0, 1_000, SECOND);
        assertThat(cut).containsExactly("long");
    }

    @Test
    void cuttingOneMayEndAnother() {
        Client other = new Client("other", "b", 10);
        new Client("one", "a", 30).endsWith = other;
        now += SECOND;
        stalled.cut(0, 1_000, SECOND);
        assertThat(cut).containsExactly("one");
    }
}
