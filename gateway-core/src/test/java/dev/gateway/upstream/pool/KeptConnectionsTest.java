package dev.gateway.upstream.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.stream.CloseCause;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.upstream.pool.PooledConnection.State;
import org.junit.jupiter.api.Test;

/** The life of a pool's connections: kept while idle, retired for a reason, closed with their permit given back. */
@SuppressWarnings("NullAway.Init") // what each test sets
class KeptConnectionsTest extends PartsFixture implements KeptConnections.User {
    private KeptConnections kept;
    private boolean yields;
    private boolean closed;

    @Override
    public void serve() {
        told.add("serve");
    }

    @Override
    public boolean yieldsToOthers() {
        return yields;
    }

    @Override
    public void onRoomLost() {
        told.add("room lost");
    }

    @Override
    public void onClosed() {
        told.add("gone");
    }

    @Override
    public boolean multiplexes() {
        return false;
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    private void begin() throws Exception {
        upstreamOf(1);
        kept = new KeptConnections(endpoint, this);
    }

    /** Makes a connection within the limit, which nobody has used yet. */
    private FakeConnection connect() {
        endpoint.host.connections().acquireBeyond();
        FakeConnection connection = new FakeConnection(endpoint, kept, 1);
        kept.admit(connection);
        kept.offer(connection);
        return connection;
    }

    private void use(PooledConnection connection) {
        assertThat(kept.takeUsable()).isSameAs(connection);
        assertThat(kept.open(connection, unused(ResponseEvents.class))).isNotNull();
    }

    @Test
    void aConnectionIsCountedAsIdleWhileItIsKept() throws Exception {
        begin();
        FakeConnection connection = connect();
        assertThat(told()).containsExactly("serve", "idle");
        assertThat(connection.state()).isEqualTo(State.KEPT_IDLE);
        use(connection);
        assertThat(told()).containsExactly("idle ended");
        assertThat(connection.state()).isEqualTo(State.ACTIVE);
        assertThat(kept.takeUsable()).isNull();
        connection.endStream();
        assertThat(told()).containsExactly("serve", "idle");
        assertThat(kept.takeUsable()).isSameAs(connection);
    }

    @Test
    void aConnectionThatRetiresEndsItsStreamFirst() throws Exception {
        begin();
        FakeConnection connection = connect();
        use(connection);
        told();
        kept.onGoingAway(connection, CloseCause.ENDPOINT);
        assertThat(told()).containsExactly("room lost");
        assertThat(connection.state()).isEqualTo(State.RETIRING);
        assertThat(kept.serving()).isZero();
        assertThat(kept.isEmpty()).isFalse();
        connection.endStream();
        assertThat(told()).containsExactly("closed ENDPOINT", "gone");
        assertThat(connection.state()).isEqualTo(State.CLOSED);
        assertThat(kept.isEmpty()).isTrue();
        assertThat(endpoint.host.connections().taken()).isZero();
    }

    @Test
    void anIdleConnectionThatIsClosedIsNoLongerCounted() throws Exception {
        begin();
        FakeConnection connection = connect();
        told();
        connection.channel.close();
        assertThat(told()).containsExactly("idle ended", "closed ENDPOINT", "gone");
        assertThat(kept.takeUsable()).isNull();
    }

    @Test
    void aConnectionThatIsOwedToOthersIsNotKept() throws Exception {
        begin();
        FakeConnection connection = connect();
        use(connection);
        told();
        yields = true;
        connection.endStream();
        assertThat(told()).containsExactly("closed LIMIT", "gone");
    }

    @Test
    void aConnectionWithoutPermitServesOnceAndGivesNoneBack() throws Exception {
        begin();
        yields = true; // which it is not asked
        FakeConnection connection = new FakeConnection(endpoint, kept, 1);
        connection.onWithoutPermit();
        kept.admit(connection);
        kept.open(connection, unused(ResponseEvents.class));
        kept.offer(connection);
        assertThat(kept.serving()).isZero();
        endpoint.host.connections().acquireBeyond();
        connection.endStream();
        assertThat(connection.state()).isEqualTo(State.CLOSED);
        assertThat(endpoint.host.connections().taken()).isEqualTo(1);
        assertThat(told()).contains("gone").doesNotContain("idle", "serve");
    }

    @Test
    void whatWasIdleForLongerThanALostConnectionIsClosedToo() throws Exception {
        begin();
        FakeConnection oldest = connect();
        pass(20);
        FakeConnection lost = connect();
        use(lost);
        pass(20);
        FakeConnection fresh = connect();
        kept.onStale(lost);
        assertThat(oldest.state()).isEqualTo(State.CLOSED);
        assertThat(fresh.state()).isEqualTo(State.KEPT_IDLE);
    }

    @Test
    void aConnectionIsClosedAfterItsIdleTimeout() throws Exception {
        settings.idleMillis(1_000);
        begin();
        FakeConnection connection = connect();
        told();
        pass(900);
        use(connection);
        connection.endStream();
        told();
        pass(900);
        assertThat(told()).isEmpty();
        pass(200);
        assertThat(told()).containsExactly("idle ended", "closed IDLE_TIMEOUT", "gone");
    }

    @Test
    void aConnectionThatShouldBeClosedByNowIsNotUsed() throws Exception {
        settings.idleMillis(1_000);
        begin();
        FakeConnection connection = connect();
        told();
        elapse(1_001);
        assertThat(kept.takeUsable()).isNull();
        assertThat(connection.state()).isEqualTo(State.CLOSED);
        assertThat(told()).containsExactly("idle ended", "closed IDLE_TIMEOUT", "gone");
    }

    @Test
    void aConnectionThatHasLostItsRoomIsOfferedAgainWhenItHasSome() throws Exception {
        begin();
        FakeConnection connection = connect();
        connection.most = 0;
        assertThat(kept.takeUsable()).isNull();
        assertThat(connection.isAvailable()).isFalse();
        connection.most = 1;
        kept.onRoom(connection);
        assertThat(kept.takeUsable()).isSameAs(connection);
    }

    @Test
    void aConnectionInUseIsClosedAfterItsLifetimeWhenItsStreamHasEnded() throws Exception {
        settings.maxLifetimeMillis(1_000);
        begin();
        FakeConnection connection = connect();
        use(connection);
        told();
        pass(1_100);
        assertThat(told()).isEmpty();
        connection.endStream();
        assertThat(connection.state()).isEqualTo(State.CLOSED);
        assertThat(told()).contains("closed MAX_LIFETIME");
    }

    @Test
    void theOneIdleForLongestIsGivenUpOnlyIfOthersNeedIt() throws Exception {
        begin();
        FakeConnection connection = connect();
        assertThat(kept.giveUpOne()).isFalse();
        assertThat(kept.giveUpIdle()).isTrue();
        assertThat(connection.state()).isEqualTo(State.CLOSED);
        assertThat(kept.giveUpIdle()).isFalse();
    }

    @Test
    void nothingIsKeptWhileItsEndpointDrains() throws Exception {
        begin();
        FakeConnection busy = connect();
        use(busy);
        FakeConnection idle = connect();
        kept.retireAll(CloseCause.DRAIN);
        assertThat(idle.state()).isEqualTo(State.CLOSED);
        FakeConnection later = connect();
        assertThat(later.state()).isEqualTo(State.CLOSED);
        kept.restore();
        busy.endStream();
        assertThat(busy.state()).isEqualTo(State.KEPT_IDLE);
    }

    @Test
    void theEndOfAllTellsTheirStreamsWhy() throws Exception {
        begin();
        FakeConnection busy = connect();
        use(busy);
        closed = true;
        told();
        kept.end(failure());
        assertThat(busy.ended).isNotNull();
        assertThat(told()).containsExactly("closed DRAIN", "gone");
    }
}
