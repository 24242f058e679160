package dev.gateway.listener;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.stream.ClientNetwork;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who gets the connections of a listener when there are too few. */
class ConnectionLimitTest {
    private static final int MAX = 32;

    private long now = 1;
    private final ConnectionLimit limit = new ConnectionLimit(MAX, () -> now);
    private final List<ClientNetwork> asked = new ArrayList<>();
    private final ClientNetwork greedy = client("203.0.113.1");
    private final ClientNetwork other = client("203.0.113.2");

    private static final class Connection implements Admission.Candidate {
        @Override
        public ClientNetwork network() {
            return ClientNetwork.NONE;
        }

        @Override
        public void closeSoon() {
            throw new AssertionError("it may be in use");
        }
    }

    private static ClientNetwork client(String address) {
        try {
            return ClientNetwork.of(InetAddress.getByName(address));
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }

    @BeforeEach
    void join() {
        limit.join(asked::add);
    }

    /** Does what a listener does with a new connection; returns whether it is admitted. */
    private boolean connect(ClientNetwork client) {
        if (limit.isFull() && !limit.replaces(client)) {
            return false;
        }
        Connection connection = new Connection();
        assertThat(limit.tryAcquire(connection)).isTrue();
        if (limit.tryShare(client)) {
            return true;
        }
        limit.release(connection);
        return false;
    }

    private void connect(ClientNetwork client, int times) {
        for (int i = 0; i < times; i++) {
            assertThat(connect(client)).isTrue();
        }
    }

    private void close(ClientNetwork client) {
        limit.releaseShare(client);
        limit.release(new Connection());
    }

    @Test
    void aLoneClientMayHaveAllOfThem() {
        connect(greedy, MAX);
        assertThat(connect(greedy)).isFalse();
        assertThat(limit.open()).isEqualTo(MAX);
        assertThat(asked).isEmpty();
    }

    @Test
    void whoHasMoreThanHalfGivesWayToOthers() {
        connect(greedy, MAX);
        assertThat(connect(other)).isTrue();
        assertThat(asked).containsExactly(greedy);
        assertThat(limit.open()).isEqualTo(MAX + 1);
    }

    @Test
    void onlySomeAreOpenBeyondTheLimitIfNoneGivesWay() {
        connect(greedy, MAX);
        connect(other, 2);
        assertThat(connect(other)).isFalse();
        assertThat(limit.open()).isEqualTo(MAX + 2);
        close(greedy);
        assertThat(connect(other)).isTrue();
    }

    @Test
    void whileOthersFindNoRoomItGetsNoneAboveHalf() {
        connect(greedy, MAX);
        connect(other, 1);
        close(greedy);
        close(greedy);
        assertThat(limit.isFull()).isFalse();
        assertThat(connect(greedy)).isFalse();
        connect(other, 1);
        for (int i = 0; i < MAX / 2; i++) {
            close(greedy);
        }
        assertThat(connect(greedy)).isTrue();
    }

    @Test
    void afterAWhileALoneClientMayHaveAllAgain() {
        connect(greedy, MAX);
        connect(other, 1);
        close(greedy);
        close(greedy);
        now += TimeUnit.SECONDS.toNanos(11);
        assertThat(connect(greedy)).isTrue();
    }

    @Test
    void ifNobodyHasMoreThanHalfTheNextIsRefused() {
        connect(greedy, MAX / 2);
        connect(other, MAX / 2);
        assertThat(connect(client("203.0.113.3"))).isFalse();
        assertThat(asked).isEmpty();
    }

    /** Such as those that a proxy passes on: who it is becomes known later. */
    @Test
    void aClientThatIsNotKnownYetIsAdmittedAndThenCounted() {
        connect(greedy, MAX);
        assertThat(limit.replaces(ClientNetwork.NONE)).isTrue();
        assertThat(limit.tryAcquire(new Connection())).isTrue();
        assertThat(limit.tryShare(greedy)).isFalse();
        assertThat(limit.tryShare(other)).isTrue();
    }
}
