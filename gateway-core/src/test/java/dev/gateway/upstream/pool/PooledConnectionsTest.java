package dev.gateway.upstream.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.stream.CloseCause;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which of a pool's connections is used next, and which is given up. */
class PooledConnectionsTest extends PartsFixture {
    private final PooledConnections connections = new PooledConnections();
    private final List<FakeConnection> made = new ArrayList<>();

    @BeforeEach
    void make() throws Exception {
        upstreamOf(1);
        for (int i = 0; i < 6; i++) {
            FakeConnection connection =
                    new FakeConnection(endpoint, new KeptConnections(endpoint, unused(KeptConnections.User.class)), 1);
            made.add(connection);
            connections.add(connection);
            connections.push(connection);
        }
    }

    @Test
    void theOneThatWasUsedLastIsUsedNext() {
        assertThat(connections.top()).isSameAs(made.get(5));
        connections.withdraw(made.get(5));
        assertThat(connections.top()).isSameAs(made.get(4));
        connections.push(made.get(5));
        assertThat(connections.top()).isSameAs(made.get(5));
    }

    @Test
    void thoseAroundOneThatIsWithdrawnStayInOrder() {
        connections.withdraw(made.get(2));
        connections.withdraw(made.get(2));
        List<PooledConnection> left = new ArrayList<>();
        connections.forEachAvailable(left::add);
        assertThat(left).containsExactly(made.get(5), made.get(4), made.get(3), made.get(1), made.get(0));
        assertThat(made.get(2).isAvailable()).isFalse();
        assertThat(made.get(3).isAvailable()).isTrue();
    }

    @Test
    void theOneThatWasUsedFirstHasBeenIdleForLongest() {
        made.get(0).streams = 1;
        assertThat(connections.longestIdle()).isSameAs(made.get(1));
        made.forEach(each -> each.streams = 1);
        assertThat(connections.longestIdle()).isNull();
    }

    @Test
    void eachIsVisitedOnceThoughAllAreWithdrawnMeanwhile() {
        List<PooledConnection> visited = new ArrayList<>();
        connections.forEachAvailable(each -> {
            visited.add(each);
            connections.withdraw(each);
        });
        assertThat(visited).containsExactlyInAnyOrderElementsOf(made);
        assertThat(connections.top()).isNull();
        visited.clear();
        connections.forEach(each -> {
            visited.add(each);
            connections.remove(each);
        });
        assertThat(visited).containsExactlyInAnyOrderElementsOf(made);
        assertThat(connections.isEmpty()).isTrue();
    }

    @Test
    void thoseThatRetireAreCountedButDoNotServe() {
        made.get(0).streams = 1;
        made.get(1).moveTo(PooledConnection.State.RETIRING);
        made.get(1).closesFor(CloseCause.LIMIT);
        assertThat(connections.serving()).isEqualTo(5);
        assertThat(connections.counts(2, 3)).isEqualTo(new PoolCounts(5, 1, 2, 3));
    }
}
