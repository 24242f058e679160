package dev.gateway.listener.limit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.stream.ClientNetwork;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who gets the connections of a listener when there are too few. */
class ConnectionLimitTest {
    private static final int MAX = 32;

    private long now = 1;
    private final ConnectionLimit limit = new ConnectionLimit(MAX, () -> now);
    private final List<ClientNetwork> asked = new ArrayList<>();
    private final Admission.Loop loop = asked::add;
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
        limit.join(loop);
    }

    /** Does what a listener does with a new connection; returns whether it is admitted. */
    private static boolean connect(ConnectionLimit limit, ClientNetwork client) {
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

    private boolean connect(ClientNetwork client) {
        return connect(limit, client);
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
    void whoHasAllGivesWayToOthers() {
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
    void whileOthersFindNoRoomItGetsNoneAboveItsShare() {
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

    /** What the event loop of a test does: each client has unused connections, and one closes at once. */
    private ConnectionLimit givingWay(int max) {
        ConnectionLimit full = new ConnectionLimit(max, () -> now);
        full.join(client -> {
            asked.add(client);
            full.releaseShare(client);
            full.release(new Connection());
        });
        return full;
    }

    private static void connect(ConnectionLimit to, ClientNetwork client, int times) {
        for (int i = 0; i < times; i++) {
            assertThat(connect(to, client)).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 10})
    void thoseWithMostGiveWayUntilAllHaveAnEqualShare(int holders) {
        int max = 60;
        ConnectionLimit full = givingWay(max);
        for (int i = 0; i < holders; i++) {
            connect(full, client("198.51.100." + i), max / holders);
        }
        int others = 30 - holders;
        for (int i = 0; i < others; i++) {
            connect(full, client("203.0.113." + i), 2);
        }
        assertThat(full.open()).isEqualTo(max);
        assertThat(connect(full, client("203.0.113.0"))).as("more than equal").isFalse();
        assertThat(asked).hasSize(2 * others).allMatch(each -> each.toString().startsWith("198.51.100."));
        for (int i = 0; i < holders; i++) {
            assertThat(connect(full, client("198.51.100." + i))).isFalse();
        }
    }

    @Test
    void whoSharesWithFewKeepsMost() {
        ConnectionLimit full = givingWay(MAX);
        connect(full, greedy, MAX);
        connect(full, other, 3);
        assertThat(full.open()).isEqualTo(MAX);
        assertThat(asked).hasSize(3).containsOnly(greedy);
    }

    /** It would only change its owner, and clients would take it from each other all the time. */
    @Test
    void nobodyGivesWayWithItsOnlyConnection() {
        for (int i = 0; i < MAX; i++) {
            connect(client("198.51.100." + i), 1);
        }
        assertThat(connect(other)).isFalse();
        assertThat(asked).isEmpty();
    }

    /** Others, such as trusted proxies, have no share, and may have used up the limit. */
    @Test
    void nobodyGivesWayWhoHasLessThanAnEqualShare() {
        for (int i = 0; i < MAX - 8; i++) {
            assertThat(limit.tryAcquire(new Connection())).isTrue();
        }
        connect(greedy, 8);
        assertThat(connect(other)).isFalse();
        assertThat(asked).isEmpty();
    }

    @Test
    void ifAllItsConnectionsAreInUseTheNextClientIsAskedForAWhile() {
        Admission.Loop second = asked::add;
        limit.join(second);
        connect(greedy, MAX - 10);
        connect(client("203.0.113.3"), 10);
        connect(other, 1);
        assertThat(asked).containsExactly(greedy, greedy);
        limit.onAllInUse(greedy, loop);
        limit.onAllInUse(greedy, loop); // asked again before the other one had a turn
        asked.clear();
        assertThat(limit.replaces(other)).isTrue();
        assertThat(asked).as("the other event loop may have one").containsExactly(greedy, greedy);
        limit.onAllInUse(greedy, second);
        limit.replaces(client("203.0.113.4"));
        assertThat(asked).endsWith(client("203.0.113.3"), client("203.0.113.3"));
    }

    @Test
    void ifNobodyHasAnUnusedConnectionOnlySomeAreOpenBeyondTheLimit() {
        connect(greedy, MAX);
        connect(other, 1);
        limit.onAllInUse(greedy, loop);
        asked.clear();
        connect(client("203.0.113.3"), 1);
        assertThat(connect(client("203.0.113.4"))).isFalse();
        assertThat(asked).isEmpty();
        close(greedy);
        close(other);
        now += TimeUnit.SECONDS.toNanos(1);
        connect(client("203.0.113.4"), 1);
        assertThat(asked).containsExactly(greedy);
    }

    @Test
    void manyClientsWithOneConnectionDoNotHideWhoHasMost() {
        int max = 200_000;
        ConnectionLimit full = givingWay(max);
        for (int i = 0; i < max / 2; i++) {
            connect(full, new ClientNetwork(ClientNetwork.Kind.IPV6, i), 1);
        }
        connect(full, greedy, max / 2);
        for (int i = 0; i < max / 2 - 2; i++) {
            connect(full, new ClientNetwork(ClientNetwork.Kind.IPV6, -1 - i), 1);
        }
        assertThat(asked).hasSize(max / 2 - 2).containsOnly(greedy);
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
