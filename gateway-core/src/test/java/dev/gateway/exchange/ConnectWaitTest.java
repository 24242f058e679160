package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.route.RetryConfig.Budget;
import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.config.upstream.UpstreamConfig.ActiveCheck;
import dev.gateway.exchange.Fakes.FakeServerStream;
import dev.gateway.exchange.route.RetryValues;
import dev.gateway.exchange.route.Route;
import dev.gateway.observe.ConnectWaitResult;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.overload.LoopGate;
import dev.gateway.overload.Overload;
import dev.gateway.overload.memory.LoopBudget;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.StreamEvents;
import dev.gateway.upstream.CheckValues;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.HealthSettings;
import dev.gateway.upstream.OutlierDetection;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.UpstreamValues;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** No endpoint can be reached, such as during a restart: requests wait, and one at a time tries again for all. */
class ConnectWaitTest extends ExchangeRig {
    private static final Failure REFUSED = Failure.of(Cause.CONNECT_FAILED, RetrySafety.ALWAYS, "refused");
    private static final long TURN = Upstream.CONNECT_TURN_MILLIS;
    private static final long WAIT = 3_000;

    private final List<FakeServerStream> others = new ArrayList<>();
    private int maxPending = 10;

    @BeforeEach
    void waitForEndpoints() {
        retry = waiting(0);
        to(FIRST);
    }

    @AfterEach
    void nobodyWaits() {
        assertThat(records.connectWaiting).isZero();
        assertThat(Objects.requireNonNull(app).pendingRequests().taken()).isZero();
        assertThat(others).allSatisfy(each -> assertThat(each.account.held()).isZero());
    }

    private static Route.Retry waiting(int attempts) {
        Route.Retry usual = new Route.Retry(attempts, Set.of(), 0);
        return RetryValues.of(
                attempts, usual.config().when(), RetryValues.waiting(0, false, 0, WAIT), 1024, Budget.UNLIMITED);
    }

    private void to(Endpoint... all) {
        endpoints = List.of(all);
        ActiveCheck check = CheckValues.TCP;
        OutlierDetection outliers = new OutlierDetection(OutlierDetection.Counts.ABSENCE, 1, 60_000, 60_000, 100);
        health = new Health(endpoints, RoundRobin::new, new HealthSettings(outliers, check, 0, 0), () -> now);
        app = new Upstream(
                "app",
                health,
                UpstreamValues.builder()
                        .maxConnections(10)
                        .maxPendingRequests(maxPending)
                        .maxRequests(10)
                        .connectMillis(5_000)
                        .build());
    }

    private Health health() {
        return Objects.requireNonNull(health);
    }

    private StreamEvents ask(String method) {
        settings.route(filters, Objects.requireNonNull(app), timeouts, retry);
        return handler().onRequest(client, head(method, "/"), true);
    }

    private void askMore(int count) {
        for (int i = 0; i < count; i++) {
            FakeServerStream other = new FakeServerStream();
            others.add(other);
            handler().onRequest(other, head("POST", "/"), true);
            refuse();
        }
    }

    /** The last attempt finds nobody. */
    private void refuse() {
        Endpoint at = opener.last().endpoint;
        health().onUnreached(at, Cause.CONNECT_FAILED);
        opener.last().fail(REFUSED);
    }

    /** Lets time pass while nobody is found. */
    private void passRefusing(long millis) {
        int refused = opener.openings.size();
        for (long passed = 0; passed < millis; passed += 10) {
            pass(10);
            for (; refused < opener.openings.size(); refused++) {
                refuse();
            }
        }
    }

    private void connect() {
        health().onReached(opener.last().endpoint);
        opener.last().succeed();
    }

    private void answer(int from) {
        for (int i = from; i < opener.openings.size(); i++) {
            opener.openings.get(i).events.onHead(response(200), true);
        }
    }

    @Test
    void aRequestIsTriedAgainUntilAConnectionCanBeMade() {
        ask("POST");
        refuse();
        assertThat(records.connectWaiting).isEqualTo(1);
        pass(TURN - 10);
        assertThat(opener.openings).hasSize(1);
        for (int i = 0; i < 5; i++) {
            pass(TURN + 10);
            assertThat(opener.openings).hasSize(i + 2);
            refuse();
        }
        pass(TURN + 10);
        connect();
        answer(6);
        assertThat(record().status).isEqualTo(200);
        assertThat(record().attempts).isEqualTo(7);
        assertThat(record().tried).as("what is repeated is listed once").hasSize(1);
        assertThat(records.connectWaits).containsExactly(ConnectWaitResult.SUCCESS);
    }

    /** An endpoint comes back, gets the request, and is gone again before it answers. */
    @Test
    void aRequestWaitsAgainForAnEndpointThatIsGoneAgain() {
        retry = waiting(1);
        ask("GET");
        refuse();
        pass(TURN + 10);
        connect();
        opener.last()
                .events
                .onReset(Failure.of(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT, "killed"));
        refuse();
        assertThat(records.connectWaiting).isEqualTo(1);
        passRefusing(WAIT - TURN);
        assertThat(records.completed).as("the second wait has its own time").isEmpty();
        pass(TURN + 10);
        connect();
        answer(opener.openings.size() - 1);
        assertThat(record().status).isEqualTo(200);
        assertThat(record().tried)
                .extracting(ExchangeRecord.Tried::cause)
                .containsExactly(Cause.CONNECT_FAILED, Cause.UPSTREAM_RESET_BEFORE_HEADERS, Cause.CONNECT_FAILED);
        assertThat(records.connectWaits).containsExactly(ConnectWaitResult.SUCCESS, ConnectWaitResult.SUCCESS);
    }

    @Test
    void oneTriesForAllAndThenAllDo() {
        ask("POST");
        refuse();
        askMore(3);
        assertThat(opener.openings).hasSize(4);
        pass(TURN + 10);
        assertThat(opener.openings).hasSize(5);
        refuse();
        pass(TURN + 10);
        assertThat(opener.openings).hasSize(6);
        connect();
        assertThat(opener.openings).hasSize(9);
        for (int i = 6; i < 9; i++) {
            opener.openings.get(i).succeed();
        }
        answer(5);
        assertThat(records.completed).extracting(each -> each.status).containsOnly(200);
        assertThat(records.connectWaits).hasSize(4).containsOnly(ConnectWaitResult.SUCCESS);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1}) // further attempts that the policy allows follow
    void afterThatTimeTheRequestFails(int more) {
        retry = waiting(more);
        ask("GET");
        refuse();
        passRefusing(WAIT + TURN + 10);
        assertAnswered(502, Cause.CONNECT_FAILED);
        int turns = opener.openings.size() - 1 - more;
        assertThat(turns).isBetween(20, 30);
        assertThat(records.connectWaits).containsExactly(ConnectWaitResult.FAILURE);
    }

    @Test
    void aClientThatGoesEndsTheWaitAtOnce() {
        StreamEvents events = ask("GET");
        refuse();
        events.onReset(GONE);
        assertThat(record().cause).isEqualTo(Cause.CLIENT_CLOSED);
        assertThat(records.connectWaits).containsExactly(ConnectWaitResult.FAILURE);
        assertThat(Objects.requireNonNull(app).pendingRequests().taken()).isZero();
        pass(2 * TURN);
        assertThat(opener.openings).hasSize(1);
    }

    @Test
    void aClientWithFewerRequestsGetsTheNewestPlace() {
        maxPending = 2;
        to(FIRST);
        settings.route(filters, Objects.requireNonNull(app), timeouts, retry);
        LoopBudget budget = new LoopBudget(new MemoryBudget(1L << 40, 1));
        LoopGate gate = new LoopGate(new Overload(), budget, budget);
        for (int i = 0; i < 2; i++) {
            FakeServerStream stream = new FakeServerStream();
            stream.account = Objects.requireNonNull(gate.accountOf("a client with two"));
            others.add(stream);
            handler().onRequest(stream, head("GET", "/"), true);
            refuse();
        }
        askMore(1);
        assertThat(records.connectWaiting).as("that of the other client, too").isEqualTo(3);
        pass(TURN + 10);
        assertThat(records.connectWaits).containsExactly(ConnectWaitResult.OVERFLOW);
        assertThat(records.completed).extracting(each -> each.cause).containsExactly(Cause.CONNECT_FAILED);
        connect();
        opener.last().succeed(); // that of the other client
        answer(3);
        assertThat(records.connectWaits)
                .containsExactly(ConnectWaitResult.OVERFLOW, ConnectWaitResult.SUCCESS, ConnectWaitResult.SUCCESS);
    }

    @Test
    void noMoreRequestsWaitThanMayForAConnection() {
        maxPending = 1;
        to(FIRST);
        ask("GET");
        refuse();
        askMore(1);
        assertThat(records.completed).extracting(each -> each.cause).containsExactly(Cause.CONNECT_FAILED);
        assertThat(records.connectWaits).containsExactly(ConnectWaitResult.OVERFLOW);
        pass(TURN + 10);
        connect();
        answer(2);
    }

    @Test
    void otherEndpointsComeFirst() {
        to(FIRST, SECOND);
        ask("GET");
        Endpoint first = opener.last().endpoint;
        refuse();
        assertThat(opener.openings).hasSize(2);
        assertThat(opener.last().endpoint).isNotEqualTo(first);
        refuse();
        assertThat(records.connectWaiting).isEqualTo(1);
        pass(TURN + 10);
        assertThat(opener.openings).hasSize(3);
        refuse();
        assertThat(opener.openings).as("each turn tries them all").hasSize(4);
        connect();
        answer(3);
        assertThat(record().status).isEqualTo(200);
    }

    @Test
    void whatAnotherEventLoopFindsOutHoldsForAll() {
        to(FIRST, SECOND);
        ask("GET");
        refuse();
        refuse();
        Objects.requireNonNull(app).takeConnectTurn(now + 90_000_000); // another loop has the next turn
        health().onReached(SECOND);
        pass(TURN + 10);
        assertThat(opener.openings).hasSize(3);
        connect();
        answer(2);
    }

    @Test
    void eventLoopsShareTheTurns() {
        ask("GET");
        refuse();
        pass(50);
        assertThat(Objects.requireNonNull(app).takeConnectTurn(now)).isTrue();
        pass(TURN / 2 + 10);
        assertThat(opener.openings).as("it was another loop's turn").hasSize(1);
        pass(TURN + 20);
        connect();
        answer(1);
    }

    @Test
    void anEndpointThatChecksHaveFoundUnhealthyForLongerIsNotWaitedFor() {
        health().onChecked(FIRST, "down");
        pass(WAIT);
        ask("GET");
        refuse();
        pass(TURN + 10);
        connect();
        answer(1);
        assertThat(record().status).isEqualTo(200);
        pass(TURN);
        askMore(1);
        assertThat(records.completed).extracting(each -> each.cause).containsExactly(null, Cause.CONNECT_FAILED);
    }

    @ParameterizedTest
    @EnumSource(
            value = Cause.class,
            names = {"TLS_FAILED", "PENDING_OVERFLOW", "PENDING_TIMEOUT", "OVERLOAD"})
    void whatWaitingDoesNotCureFailsAtOnce(Cause cause) {
        ask("GET");
        opener.last().fail(failure(cause, RetrySafety.ALWAYS));
        assertAnswered(cause.status(), cause);
    }

    @Test
    void aRequestWithLessTimeFailsBeforeItsEnd() {
        timeouts = new Route.Timeouts(500, 0, 0, TunnelTimeouts.NONE);
        ask("GET");
        refuse();
        passRefusing(480);
        assertAnswered(502, Cause.CONNECT_FAILED);
    }

    @Test
    void aConnectionThatHasTakenLongerIsNotTriedAgain() {
        ask("GET");
        pass(WAIT);
        opener.last().fail(failure(Cause.CONNECT_TIMEOUT, RetrySafety.ALWAYS));
        assertAnswered(504, Cause.CONNECT_TIMEOUT);
        assertThat(records.connectWaits).isEmpty();
    }

    @Test
    void aDestinationThatTheClientHasChosenIsNotWaitedFor() {
        offerTunnels();
        connect("api.example.com:443");
        assertThat(opener.last().endpoint.index()).isEqualTo(Endpoint.NAMED_INDEX);
        opener.last().fail(REFUSED);
        assertAnswered(502, Cause.CONNECT_FAILED);
    }
}
