package dev.gateway.upstream.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.stream.StreamKind;
import dev.gateway.upstream.stream.StreamOpener;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** How long requests wait for a connection, and what ends the wait. */
@SuppressWarnings("NullAway.Init") // what each test sets
class PendingRequestsTest extends PartsFixture {
    private Part part;
    private Part other;

    /** The requests that wait for one endpoint, with what opens connections for them. */
    private final class Part
            implements PendingRequests.ConnectionSource, ConnectionOpener.Demand, PermitWaiter.Applicant {
        final EndpointContext at;
        final ConnectionOpener opener;
        final PendingRequests pending;

        @Nullable
        PooledConnection free;

        @Nullable
        Part elsewhere;

        int withoutDial;

        Part(EndpointContext at) {
            this.at = at;
            this.opener = new ConnectionOpener(at, new PermitWaiter(resources, at.host, at.flexible, this), this);
            this.pending = new PendingRequests(at, opener, this);
        }

        /** Makes a request wait, which counts as one in flight as long as it does. */
        StreamOpener.Opening enqueue() {
            return enqueue(new Answer());
        }

        StreamOpener.Opening enqueue(Answer answer) {
            at.host.requests().acquireBeyond();
            return pending.enqueue(
                    new Waiter(pending, StreamKind.EXCHANGE, unused(ResponseEvents.class), answer, at.now()));
        }

        @Override
        public @Nullable PooledConnection takeUsable() {
            PooledConnection taken = free;
            free = null;
            return taken;
        }

        @Override
        public void serve(Waiter waiter, PooledConnection connection) {
            told.add("served" + (waiter.client.equals("a client") ? "" : " " + waiter.client));
        }

        @Override
        public boolean move(Waiter waiter) {
            if (elsewhere == null) {
                return false;
            }
            elsewhere.at.host.requests().acquireBeyond();
            elsewhere.pending.receive(waiter);
            return true;
        }

        @Override
        public boolean moveToUntried(Waiter waiter) {
            return false;
        }

        @Override
        public void onWithoutDial(int change) {
            withoutDial += change;
        }

        @Override
        public void onLeft() {
            told.add("left");
        }

        @Override
        public int pendingRequests() {
            return pending.size();
        }

        @Override
        public boolean hasServing() {
            return true;
        }

        @Override
        public boolean isClosed() {
            return false;
        }

        @Override
        public void dial(int turn) {
            told.add("dial");
        }

        @Override
        public boolean hasNoConnection() {
            return false;
        }

        @Override
        public void onPermit(Host granted) {
            opener.onPermit();
        }
    }

    private void begin(int endpoints) throws Exception {
        upstreamOf(endpoints);
        part = new Part(endpoint);
        other = new Part(endpoint(endpoints - 1));
    }

    private FakeConnection connection() {
        return new FakeConnection(endpoint, new KeptConnections(endpoint, unused(KeptConnections.User.class)), 1);
    }

    private int waiting() {
        return shared.upstream.pendingRequests().taken();
    }

    @Test
    void aRequestForWhichAConnectionIsMadeWaitsForThat() throws Exception {
        begin(1);
        part.enqueue();
        assertThat(told()).containsExactly("dial");
        assertThat(waiting()).isZero();
        assertThat(part.pending.firstWithoutDial(connection())).isNull();
        part.opener.onDialEnded();
        part.free = connection();
        part.pending.serve();
        assertThat(told()).containsExactly("served");
        assertThat(part.pending.size()).isZero();
    }

    @Test
    void onlySoManyMayWaitForAPermit() throws Exception {
        settings.maxConnections(1).maxPendingRequests(1);
        begin(1);
        endpoint.host.connections().acquireBeyond();
        assertThat(part.enqueue()).isNotSameAs(StreamOpener.Opening.DONE);
        assertThat(waiting()).isEqualTo(1);
        assertThat(part.enqueue()).isSameAs(StreamOpener.Opening.DONE);
        assertThat(told()).containsExactly("overflow", "left", "failed PENDING_OVERFLOW");
        assertThat(endpoint.host.requests().taken()).isEqualTo(1);
    }

    @Test
    void clientsTakeTurns() throws Exception {
        settings.maxConnections(1);
        begin(1);
        endpoint.host.connections().acquireBeyond();
        for (int i = 0; i < 5; i++) {
            part.enqueue(new Answer("many"));
        }
        part.enqueue(new Answer("few"));
        for (int i = 0; i < 3; i++) {
            part.free = connection();
            part.pending.serve();
        }
        assertThat(told())
                .filteredOn(each -> each.startsWith("served"))
                .containsExactly("served many", "served few", "served many");
    }

    @Test
    void whoHasManyRequestsThatWaitGivesWayToWhoHasFew() throws Exception {
        settings.maxConnections(1).maxPendingRequests(3);
        begin(1);
        endpoint.host.connections().acquireBeyond();
        for (int i = 0; i < 3; i++) {
            part.enqueue(new Answer("many"));
        }
        part.enqueue(new Answer("few"));
        assertThat(told()).as("not within the call of another request").isEmpty();
        loop.runPendingTasks();
        assertThat(told()).containsExactly("overflow", "left", "failed PENDING_OVERFLOW of many");
        assertThat(waiting()).isEqualTo(3);
        assertThat(part.pending.size()).isEqualTo(3);
        assertThat(endpoint.host.requests().taken()).isEqualTo(3);
    }

    @Test
    void whoWasServedBeforeItLearnedThatItsPlaceIsGoneDoesNotFail() throws Exception {
        settings.maxConnections(1).maxPendingRequests(2);
        begin(1);
        endpoint.host.connections().acquireBeyond();
        part.enqueue(new Answer("many"));
        part.enqueue(new Answer("many"));
        part.enqueue(new Answer("few"));
        for (int i = 0; i < 3; i++) {
            part.free = connection();
            part.pending.serve();
        }
        loop.runPendingTasks();
        assertThat(told()).containsExactly("served many", "served few", "served many");
        assertThat(waiting()).isZero();
    }

    @Test
    void theWaitForAPermitIsLimited() throws Exception {
        settings.maxConnections(1).poolAcquireMillis(1_000);
        begin(1);
        endpoint.host.connections().acquireBeyond();
        part.enqueue();
        pass(990);
        assertThat(told()).isEmpty();
        pass(30);
        assertThat(told()).containsExactly("timeout", "left", "failed PENDING_TIMEOUT");
        assertThat(waiting()).isZero();
        assertThat(endpoint.host.requests().taken()).isZero();
    }

    @Test
    void whoGetsItsPermitInTimeWaitsForItsConnection() throws Exception {
        settings.maxConnections(1).poolAcquireMillis(1_000).connectMillis(10_000);
        begin(1);
        endpoint.host.connections().acquireBeyond();
        part.enqueue();
        shared.permits.release(endpoint.host);
        loop.runPendingTasks();
        assertThat(told()).containsExactly("dial");
        assertThat(waiting()).isEqualTo(1);
        pass(1_020);
        assertThat(waiting()).isZero();
        pass(5_000);
        assertThat(told()).isEmpty();
        assertThat(part.pending.size()).isEqualTo(1);
    }

    @Test
    void aConnectionIsPromisedFirstToThoseThatItWasMadeFor() throws Exception {
        settings.maxConnections(2);
        begin(1);
        endpoint.host.connections().acquireBeyond();
        part.enqueue();
        assertThat(told()).containsExactly("dial");
        part.enqueue();
        part.enqueue();
        assertThat(waiting()).isEqualTo(2);
        assertThat(part.pending.promised()).isZero();
        shared.permits.release(endpoint.host);
        loop.runPendingTasks();
        assertThat(told()).containsExactly("dial");
        assertThat(part.pending.promised()).isEqualTo(1);
    }

    @Test
    void aConnectionThatNobodyWaitsForIsPromisedToNobody() throws Exception {
        settings.maxConnections(1);
        begin(1);
        part.enqueue().cancel();
        assertThat(part.opener.dialing()).isEqualTo(1);
        assertThat(part.pending.promised()).isZero();
    }

    @Test
    void clientsWithMuchComeAfterOthers() throws Exception {
        settings.maxConnections(1);
        begin(1);
        endpoint.host.connections().acquireBeyond();
        part.enqueue(new Answer("much"));
        part.enqueue(new Answer("little"));
        part.enqueue(new Answer("little"));
        shared.upstream.pendingRequests().serveLast(Set.of("much"));
        for (int i = 0; i < 3; i++) {
            part.free = connection();
            part.pending.serve();
        }
        assertThat(told())
                .filteredOn(each -> each.startsWith("served"))
                .containsExactly("served little", "served little", "served much");
    }

    @Test
    void whoseConnectionCouldNotBeMadeWaitsForAPermitAfterAll() throws Exception {
        settings.maxConnections(1).poolAcquireMillis(1_000).connectMillis(6_000);
        begin(1);
        part.enqueue();
        part.opener.onDialEnded();
        pass(990);
        assertThat(waiting()).isZero();
        pass(30);
        assertThat(waiting()).isEqualTo(1);
        told();
        pass(1_020);
        assertThat(told()).containsExactly("timeout", "left", "failed PENDING_TIMEOUT");
    }

    /** Also if there is no limit for connecting, so that nothing else would end its wait. */
    @Test
    void whoCountedOnAConnectionThatDoesNotComeWaitsForAPermitFromThenOn() throws Exception {
        settings.maxConnections(1).poolAcquireMillis(1_000);
        begin(1);
        part.enqueue();
        part.opener.onDialEnded();
        part.pending.onDialEnded();
        assertThat(waiting()).isEqualTo(1);
        assertThat(part.withoutDial).isEqualTo(1);
        part.pending.onDialEnded();
        assertThat(waiting()).isEqualTo(1);
        told();
        pass(1_020);
        assertThat(told()).containsExactly("timeout", "left", "failed PENDING_TIMEOUT");
        assertThat(part.withoutDial).isZero();
    }

    @Test
    void whoCountedOnAConnectionThatDoesNotComeLooksElsewhereFirst() throws Exception {
        settings.maxConnections(2);
        begin(2);
        part.enqueue();
        part.opener.onDialEnded();
        part.elsewhere = other;
        told();
        part.pending.onDialEnded();
        assertThat(told()).containsExactly("left", "moved to 1");
        assertThat(other.pending.size()).isEqualTo(1);
    }

    @Test
    void whoHasNoLimitForPermitsIsNotHeldToThatForConnections() throws Exception {
        settings.maxConnections(1).connectMillis(6_000);
        begin(1);
        part.enqueue();
        part.opener.onDialEnded();
        part.pending.onDialEnded();
        told();
        pass(2_000);
        assertThat(told()).isEmpty();
        assertThat(waiting()).isEqualTo(1);
    }

    @Test
    void whoGivesUpGivesBackWhatItHeld() throws Exception {
        settings.maxConnections(1);
        begin(1);
        endpoint.host.connections().acquireBeyond();
        StreamOpener.Opening opening = part.enqueue();
        opening.cancel();
        opening.cancel();
        assertThat(told()).containsExactly("left");
        assertThat(waiting()).isZero();
        assertThat(endpoint.host.requests().taken()).isZero();
        shared.permits.release(endpoint.host);
        loop.runPendingTasks();
        assertThat(told()).isEmpty(); // and has no place in line
    }

    @Test
    void anEndpointAnswersForARequestThatRanOutOfTimeWhileItWasConnectedTo() throws Exception {
        begin(1);
        part.enqueue().expire();
        assertThat(endpoint.host.isUnreached()).isTrue();
        assertThat(part.opener.onDialEnded()).isTrue();
    }

    @Test
    void whoWaitsForAConnectionForLongLooksElsewhere() throws Exception {
        settings.connectMillis(6_000);
        begin(2);
        part.enqueue();
        told();
        pass(990);
        part.elsewhere = other;
        assertThat(told()).isEmpty();
        pass(30);
        assertThat(told()).containsExactly("left", "moved to 1");
        assertThat(part.pending.size()).isZero();
        assertThat(other.pending.size()).isEqualTo(1);
        assertThat(part.at.host.requests().taken()).isZero();
        assertThat(other.at.host.requests().taken()).isEqualTo(1);
    }

    @Test
    void whoWouldWaitForAPermitLooksElsewhereAtOnce() throws Exception {
        settings.maxConnections(2);
        begin(2);
        endpoint.host.connections().acquireBeyond();
        part.elsewhere = other;
        other.free = new FakeConnection(other.at, new KeptConnections(other.at, unused(KeptConnections.User.class)), 1);
        part.enqueue();
        assertThat(told()).containsExactly("left", "moved to 1", "served");
        assertThat(part.withoutDial).isZero();
    }

    @Test
    void thoseThatNothingIsMadeForAreCounted() throws Exception {
        settings.maxConnections(2);
        begin(2);
        endpoint.host.connections().acquireBeyond();
        StreamOpener.Opening opening = part.enqueue();
        assertThat(part.withoutDial).isEqualTo(1);
        assertThat(part.pending.firstWithoutDial(connection())).isNotNull();
        opening.cancel();
        assertThat(part.withoutDial).isZero();
    }

    @Test
    void aFailureIsForTheFirstOrForAll() throws Exception {
        begin(1);
        part.opener.onKnown(HttpVersion.HTTP_1_1);
        part.enqueue();
        part.enqueue();
        part.enqueue();
        told();
        part.pending.failFirst(failure());
        assertThat(told()).containsExactly("left", "failed CONNECT_FAILED");
        part.pending.failAll(failure());
        assertThat(told()).containsExactly("left", "failed CONNECT_FAILED", "left", "failed CONNECT_FAILED");
        part.pending.failFirst(failure());
        assertThat(told()).isEmpty();
        assertThat(endpoint.host.requests().taken()).isZero();
    }
}
