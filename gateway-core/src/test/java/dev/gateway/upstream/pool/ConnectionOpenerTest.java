package dev.gateway.upstream.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.config.upstream.UpstreamConfig.Tls;
import dev.gateway.config.upstream.UpstreamConfig.TlsOffer;
import dev.gateway.config.value.Position;
import dev.gateway.stream.HttpVersion;
import dev.gateway.upstream.Host;
import org.junit.jupiter.api.Test;

/** How many connections are opened for those who wait, and when one waits for a permit. */
@SuppressWarnings("NullAway.Init") // what each test sets
class ConnectionOpenerTest extends PartsFixture implements ConnectionOpener.Demand, PermitWaiter.Applicant {
    private ConnectionOpener opener;
    private PermitWaiter permit;
    private int pending;
    private boolean serving;
    private boolean closed;

    private void begin() throws Exception {
        upstreamOf(1);
        permit = new PermitWaiter(resources, endpoint.host, false, this);
        opener = new ConnectionOpener(endpoint, permit, this);
    }

    @Override
    public int pendingRequests() {
        return pending;
    }

    @Override
    public boolean hasServing() {
        return serving;
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public void dial(int turn) {
        told.add("dial");
    }

    @Override
    public boolean hasNoConnection() {
        return opener.servesNone();
    }

    @Override
    public void onPermit(Host granted) {
        opener.onPermit();
    }

    private int taken() {
        return endpoint.host.connections().taken();
    }

    private void negotiate() {
        settings.protocol(Protocol.AUTO)
                .tls(new Tls(Position.NOWHERE, false, null, null, null, null, TlsOffer.DEFAULT));
    }

    @Test
    void eachRequestGetsAConnectionOfHttp1() throws Exception {
        begin();
        pending = 2;
        opener.openNeeded();
        assertThat(told()).containsExactly("dial", "dial");
        assertThat(opener.expected()).isEqualTo(2);
        opener.openNeeded();
        assertThat(told()).isEmpty();
        assertThat(taken()).isEqualTo(2);
    }

    @Test
    void oneConnectionMayServeManyBeforeItsProtocolIsKnown() throws Exception {
        negotiate();
        begin();
        pending = 3;
        opener.openNeeded();
        assertThat(told()).containsExactly("dial");
        assertThat(opener.expected()).isGreaterThan(3);
        opener.onKnown(HttpVersion.HTTP_1_1);
        opener.openNeeded();
        assertThat(told()).containsExactly("dial", "dial");
    }

    @Test
    void whatIsBeyondTheLimitWaitsForAPermit() throws Exception {
        settings.maxConnections(1);
        begin();
        pending = 2;
        opener.openNeeded();
        assertThat(told()).containsExactly("dial");
        assertThat(permit.isWaiting()).isTrue();
        assertThat(opener.waitsForPermit()).isTrue();
        opener.onDialEnded();
        pending = 1;
        shared.permits.release(endpoint.host);
        assertThat(told()).isEmpty();
        loop.runPendingTasks();
        assertThat(told()).containsExactly("dial");
        assertThat(permit.isWaiting()).isFalse();
        assertThat(taken()).isEqualTo(1);
    }

    @Test
    void aPermitThatIsNoLongerNeededIsGivenBack() throws Exception {
        settings.maxConnections(1);
        begin();
        endpoint.host.connections().acquireBeyond();
        pending = 1;
        opener.openNeeded();
        shared.permits.release(endpoint.host);
        pending = 0;
        loop.runPendingTasks();
        assertThat(told()).isEmpty();
        assertThat(taken()).isZero();
    }

    @Test
    void whoLeavesTheQueueIsGivenNoPermit() throws Exception {
        settings.maxConnections(1);
        begin();
        endpoint.host.connections().acquireBeyond();
        pending = 1;
        opener.openNeeded();
        opener.leaveQueue();
        shared.permits.release(endpoint.host);
        loop.runPendingTasks();
        assertThat(told()).isEmpty();
        assertThat(taken()).isZero();
        assertThat(permit.isWaiting()).isFalse();
    }

    /** Requests of this loop could wait for ever for another loop's connection, which has room for its own only. */
    @Test
    void theFirstConnectionOfHttp2MayExceedTheLimit() throws Exception {
        settings.maxConnections(1).protocol(Protocol.H2C);
        begin();
        endpoint.host.connections().acquireBeyond();
        pending = 1;
        opener.openNeeded();
        assertThat(told()).containsExactly("dial");
        assertThat(taken()).isEqualTo(2);
    }

    @Test
    void aReservedPermitIsUsedOnce() throws Exception {
        settings.maxConnections(1);
        begin();
        assertThat(opener.reserve()).isTrue();
        assertThat(taken()).isEqualTo(1);
        pending = 1;
        opener.dialReserved();
        opener.dialReserved();
        assertThat(told()).containsExactly("dial");
        assertThat(opener.reserve()).isFalse();
    }

    @Test
    void nothingIsOpenedForAPoolThatIsClosed() throws Exception {
        begin();
        closed = true;
        pending = 1;
        opener.openNeeded();
        assertThat(told()).isEmpty();
    }

    @Test
    void aLateConnectionIsHeldAgainstItsEndpointOnce() throws Exception {
        begin();
        pending = 1;
        opener.openNeeded();
        assertThat(opener.onLate()).isTrue();
        assertThat(opener.onLate()).isFalse();
        assertThat(opener.onDialEnded()).isTrue();
        opener.openNeeded();
        assertThat(opener.onDialEnded()).isFalse();
    }
}
