package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.route.RetryConfig.Budget;
import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.exchange.Fakes.FakeOpening;
import dev.gateway.exchange.reply.LocalReply;
import dev.gateway.exchange.route.RetryValues;
import dev.gateway.exchange.route.Route;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.StreamEvents;
import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.UpstreamValues;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Attempts that fail, and whether another one is made, where, and when. */
class AttemptsTest extends ExchangeRig {
    @Test
    void theEndpointsHostIsToldIfTheRouteSaysSo() {
        settings.preserveHost = false;
        assertThat(authorityTold()).isEqualTo("app.test:9000");
    }

    @Test
    void aHostThatAFilterChoseIsTold() {
        settings.preserveHost = false;
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                head.setAuthority(new AsciiString("chosen.test"));
                return Verdict.PROCEED;
            }
        });
        assertThat(authorityTold()).isEqualTo("chosen.test");
    }

    private String authorityTold() {
        get();
        opener.last().succeed();
        String authority = upstream().head().authority().toString();
        opener.last().events.onHead(response(204), true);
        return authority;
    }

    @Test
    void aRequestWithoutAHostIsToldTheEndpoints() {
        route();
        AsciiString none = AsciiString.EMPTY_STRING;
        handler()
                .onRequest(
                        client,
                        new RequestHead(
                                Method.GET, new AsciiString("http"), none, new AsciiString("/"), new Fields(), 0),
                        true);
        opener.last().succeed();
        assertThat(upstream().head().authority().toString()).isEqualTo("app.test:9000");
        opener.last().events.onHead(response(204), true);
    }

    @Test
    void withoutAnEndpointTheServiceIsUnavailable() {
        healthy = false;
        get();
        assertAnswered(503, Cause.NO_HEALTHY_ENDPOINT);
        assertThat(record().detail).startsWith("no endpoint of app may be used: ");
    }

    @ParameterizedTest
    @EnumSource(
            value = Cause.class,
            names = {
                "DNS_FAILED",
                "CONNECT_FAILED",
                "CONNECT_TIMEOUT",
                "TLS_FAILED",
                "PENDING_OVERFLOW",
                "PENDING_TIMEOUT",
                "OVERLOAD"
            })
    void whyNoStreamCouldBeOpenedIsWhatTheClientIsTold(Cause cause) {
        get();
        opener.last().fail(failure(cause, RetrySafety.NEVER));
        assertAnswered(cause.status(), cause);
        assertThat(client.field("Proxy-Status")).contains(LocalReply.errorType(cause));
        assertThat(records.attempts).containsExactly(cause.label());
    }

    @ParameterizedTest
    @EnumSource(
            value = Cause.class,
            names = {"UPSTREAM_RESET_BEFORE_HEADERS", "UPSTREAM_PROTOCOL_ERROR"})
    void anUpstreamThatBreaksOffBeforeItsResponseIsABadGateway(Cause cause) {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("a"), false);
        opener.last().events.onReset(failure(cause, RetrySafety.NEVER));
        assertAnswered(502, cause);
        events.onData(bytes("late"), true);
        events.onReadComplete();
    }

    @Test
    void anUpstreamThatBreaksOffInTheBodyBreaksTheClientsStream() {
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        opener.last().events.onData(bytes("half"), false);
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT));
        assertThat(client.ended).isFalse();
        assertThat(client.reset).extracting(Failure::cause).isEqualTo(Cause.UPSTREAM_RESET_IN_BODY);
        assertThat(record().cause).isEqualTo(Cause.UPSTREAM_RESET_IN_BODY);
        assertThat(record().status).isEqualTo(200);
        assertThat(opener.openings).hasSize(1);
    }

    @Test
    void aKeptConnectionThatWasClosedIsNeverTheClientsTrouble() {
        get();
        opener.last().succeed();
        opener.last().events.onReset(stale(RetrySafety.IF_IDEMPOTENT));
        opener.last().succeed();
        assertThat(upstream().head()).isNotNull();
        assertThat(upstream().ended).isTrue();
        opener.last().events.onHead(response(200), true);
        assertThat(record().status).isEqualTo(200);
        assertThat(record().cause).isNull();
        assertThat(record().attempts).isEqualTo(2);
        assertThat(records.attempts).containsExactly("upstream_reset_before_headers again", "200");
    }

    @Test
    void aClosedKeptConnectionIsNotTriedOverForARequestThatMayHaveBeenProcessed() {
        request("POST", "/", true);
        opener.last().succeed();
        opener.last().events.onReset(stale(RetrySafety.IF_IDEMPOTENT));
        assertAnswered(502, Cause.UPSTREAM_RESET_BEFORE_HEADERS);
        assertThat(opener.openings).hasSize(1);
    }

    @Test
    void aRequestThatWasProvablyNotProcessedIsSentAgainWhateverItsMethod() {
        request("POST", "/", true);
        opener.last().succeed();
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS));
        opener.last().succeed();
        opener.last().events.onHead(response(201), true);
        assertThat(record().status).isEqualTo(201);
        assertThat(opener.last().endpoint).isEqualTo(SECOND);
    }

    @Test
    void aRequestIsSentAgainForFreeThreeTimes() {
        get();
        for (int i = 0; i < 4; i++) {
            opener.last().succeed();
            opener.last().events.onReset(stale(RetrySafety.ALWAYS));
        }
        assertAnswered(502, Cause.UPSTREAM_RESET_BEFORE_HEADERS);
        assertThat(record().attempts).isEqualTo(4);
    }

    @Test
    void afterTwoConnectionsJustClosedTheNextAttemptStaysWhereAllOthersHaveBeenDropped() {
        endpoints = List.of(FIRST, SECOND, new Endpoint(2, "c.test", 80, 1));
        balancer = turns(endpoints);
        get();
        for (int i = 0; i < 2; i++) {
            opener.last().succeed();
            opener.last().events.onReset(stale(RetrySafety.IF_IDEMPOTENT));
        }
        assertThat(opener.openings).extracting(o -> o.endpoint).containsExactly(FIRST, SECOND, SECOND);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().status).isEqualTo(200);
    }

    @Test
    void attemptsThatAreFreeDoNotCountForThePolicy() {
        retry = new Route.Retry(1, Set.of(), 0);
        get();
        opener.last().succeed();
        opener.last().events.onReset(stale(RetrySafety.IF_IDEMPOTENT));
        opener.last().succeed();
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT));
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().attempts).isEqualTo(3);
    }

    @Test
    void refusedConnectionsGoThroughTheOtherEndpoints() {
        Endpoint third = new Endpoint(2, "c.test", 80, 1);
        endpoints = List.of(FIRST, SECOND, third);
        balancer = turns(List.of(FIRST, SECOND, FIRST, third)); // as other requests may take their turns
        get();
        opener.last().fail(failure(Cause.CONNECT_FAILED, RetrySafety.ALWAYS));
        opener.last().fail(failure(Cause.CONNECT_FAILED, RetrySafety.ALWAYS));
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().status).isEqualTo(200);
        assertThat(opener.openings).extracting(o -> o.endpoint).doesNotHaveDuplicates();
    }

    @Test
    void anEndpointThatCannotBeReachedIsNotTriedAgainWhenItIsTheOnlyOne() {
        endpoints = List.of(FIRST);
        get();
        opener.last().fail(failure(Cause.CONNECT_FAILED, RetrySafety.ALWAYS));
        assertAnswered(502, Cause.CONNECT_FAILED);
        assertThat(opener.openings).hasSize(1);
    }

    @Test
    void thePolicySaysHowOftenARequestIsSentAgain() {
        retry = new Route.Retry(2, Set.of(), 0);
        get();
        for (int i = 0; i < 3; i++) {
            opener.last().succeed();
            opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT));
        }
        assertAnswered(502, Cause.UPSTREAM_RESET_BEFORE_HEADERS);
        assertThat(record().attempts).isEqualTo(3);
    }

    @Test
    void aFailedAttemptIsRepeatedNoSoonerThanThePolicySays() {
        retry = new Route.Retry(2, Set.of(503), 100);
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(503), false);
        assertThat(upstream().reset).isNotNull();
        pass(90);
        assertThat(opener.openings).hasSize(1);
        pass(40);
        assertThat(opener.openings).hasSize(2);
        opener.last().succeed();
        opener.last().events.onHead(response(503), false);
        pass(190); // twice as long
        assertThat(opener.openings).hasSize(2);
        pass(40);
        assertThat(opener.openings).hasSize(3);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(client.heads).hasSize(1);
        assertThat(record().status).isEqualTo(200);
        assertThat(records.attempts).containsExactly("503 again", "503 again", "200");
    }

    @Test
    void whenThePolicysAttemptsAreUsedUpTheLastResponseIsForwarded() {
        retry = new Route.Retry(1, Set.of(503), 0);
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(503), true);
        opener.last().succeed();
        opener.last().events.onHead(response(503), true);
        assertThat(client.status()).isEqualTo(503);
        assertThat(record().cause).isEqualTo(Cause.RETRY_LIMIT);
        assertThat(record().isRetriable).isTrue();
    }

    @Test
    void aResponseAfterARetryIsJudgedByItsOwnStatus() {
        retry = new Route.Retry(1, Set.of(503), 0);
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(503), true);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().isRetriable).isFalse();
    }

    @Test
    void aResponseThatCannotBeRepeatedIsStillOneThatThePolicyCallsAFailure() {
        Route.Retry usual = new Route.Retry(2, Set.of(429), 0);
        retry = RetryValues.of(2, usual.config().when(), RetryValues.waiting(0, true, 0, 0), 1024, Budget.UNLIMITED);
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(429), true);
        opener.last().succeed();
        ResponseHead later = response(429);
        later.fields().add(FieldName.RETRY_AFTER, new AsciiString("3600"));
        opener.last().events.onHead(later, true);
        assertThat(client.status()).isEqualTo(429);
        assertThat(record().cause).isNull();
        assertThat(record().isRetriable).isTrue();
    }

    private static Route.Retry withoutBudget() {
        Route.Retry usual = new Route.Retry(1, Set.of(503), 0);
        return RetryValues.of(1, usual.config().when(), usual.config().waiting(), 1024, RetryValues.budget(0, 0));
    }

    @Test
    void whatTheBudgetForbidsIsTheExchangesCause() {
        retry = withoutBudget();
        get();
        opener.last().succeed();
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT));
        assertAnswered(502, Cause.RETRY_BUDGET);
        assertThat(record().detail).contains("upstream_reset_before_headers: made by the test");
        assertThat(records.attempts).containsExactly("upstream_reset_before_headers");
    }

    @Test
    void aResponseAfterWhichTheBudgetForbidsAnotherAttemptIsForwarded() {
        retry = withoutBudget();
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(503), true);
        assertThat(client.status()).isEqualTo(503);
        assertThat(record().cause).isEqualTo(Cause.RETRY_BUDGET);
    }

    @Test
    void aForwardedResponseThatBreaksOffHasTheCauseOfThat() {
        retry = withoutBudget();
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(503), false);
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_IN_BODY, RetrySafety.IF_IDEMPOTENT));
        assertThat(client.reset).isNotNull();
        assertThat(record().status).isEqualTo(503);
        assertThat(record().cause).isEqualTo(Cause.UPSTREAM_RESET_IN_BODY);
        assertThat(records.attempts).containsExactly("upstream_reset_in_body");
        assertThat(records.statuses).containsExactly(503);
    }

    @Test
    void anEndpointThatCannotBeReachedKeepsItsCauseWhateverTheBudget() {
        retry = withoutBudget();
        endpoints = List.of(FIRST);
        get();
        opener.last().fail(failure(Cause.CONNECT_FAILED, RetrySafety.ALWAYS));
        assertAnswered(502, Cause.CONNECT_FAILED);
    }

    @Test
    void anEndpointMayAskToBeLeftAloneForAWhile() {
        retry = patient(1);
        endpoints = List.of(FIRST);
        get();
        opener.last().succeed();
        opener.last().events.onHead(busy("1"), true);
        pass(990);
        assertThat(opener.openings).hasSize(1);
        pass(30);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().attempts).isEqualTo(2);
    }

    @Test
    void ifAllEndpointsAskToBeLeftAloneTheOneIsAskedThatIsDueFirst() {
        retry = patient(2);
        get();
        opener.last().succeed();
        opener.last().events.onHead(busy("3"), true);
        assertThat(opener.openings).as("another endpoint is asked at once").hasSize(2);
        opener.last().succeed();
        pass(1000);
        opener.last().events.onHead(busy("1"), true);
        pass(900);
        assertThat(opener.openings).hasSize(2);
        pass(150);
        assertThat(opener.openings).hasSize(3);
        assertThat(opener.last().endpoint)
                .as("the other one asks for more time")
                .isEqualTo(SECOND);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().attempts).isEqualTo(3);
    }

    @Test
    void anEndpointThatAskedForNothingIsAskedAgainAtOnce() {
        retry = patient(2);
        get();
        opener.last().succeed();
        opener.last().events.onHead(busy("3600"), true);
        opener.last().succeed();
        opener.last().events.onHead(response(503), true);
        assertThat(opener.openings).hasSize(3);
        assertThat(opener.last().endpoint).isEqualTo(SECOND);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().status).isEqualTo(200);
    }

    /** Returns a policy that waits as long as endpoints ask for. */
    private static Route.Retry patient(int attempts) {
        Route.Retry usual = new Route.Retry(1, Set.of(503), 0);
        return RetryValues.of(
                attempts, usual.config().when(), RetryValues.waiting(0, true, 0, 0), 1024, Budget.UNLIMITED);
    }

    private static ResponseHead busy(String retryAfter) {
        ResponseHead busy = response(503);
        busy.fields().add(FieldName.RETRY_AFTER, new AsciiString(retryAfter));
        return busy;
    }

    @ParameterizedTest
    @CsvSource({"11, 0, 0", "1000000000, 0, 0", "8, 5000, 0", "8, 0, 5000"})
    void aResponseIsForwardedIfTheRequestCannotWaitAsLongAsTheEndpointAsks(
            String retryAfter, long requestMillis, long idleMillis) {
        timeouts = new Route.Timeouts(requestMillis, 0, idleMillis, TunnelTimeouts.NONE);
        retry = patient(1);
        endpoints = List.of(FIRST);
        get();
        opener.last().succeed();
        opener.last().events.onHead(busy(retryAfter), true);
        assertThat(client.status()).isEqualTo(503);
        assertThat(record().attempts).isOne();
        assertThat(record().cause).as("no limit of retries was reached").isNull();
    }

    /** To fail when that time is over would tell less. */
    @Test
    void anAttemptThatFailsTooLateForAnotherIsTheLast() {
        timeouts = new Route.Timeouts(100, 0, 0, TunnelTimeouts.NONE);
        retry = new Route.Retry(1, Set.of(), 200);
        get();
        opener.last().succeed();
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT));
        assertAnswered(502, Cause.UPSTREAM_RESET_BEFORE_HEADERS);
    }

    @Test
    void anAnswerThatIsNotForwardedIsHeardToo() {
        retry = new Route.Retry(1, Set.of(503), 0);
        get();
        opener.last().succeed();
        long sent = now;
        pass(10);
        opener.last().events.onHead(response(503), true);
        List<Host> hosts = Objects.requireNonNull(app).hosts();
        assertThat(hosts.get(0).isHeardSince(sent)).isTrue();
        assertThat(hosts.get(1).isHeardSince(sent)).isFalse();
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(hosts.get(1).isHeardSince(sent)).isTrue();
    }

    @Test
    void aCodeOfThePolicyIsNotRetriedForAMethodThatMayActTwice() {
        retry = new Route.Retry(1, Set.of(503), 0);
        request("POST", "/", true);
        opener.last().succeed();
        opener.last().events.onHead(response(503), true);
        assertThat(client.status()).isEqualTo(503);
        assertThat(record().cause).isNull();
        assertThat(opener.openings).hasSize(1);
    }

    @Test
    void whatAFailedAttemptStillSaysIsIgnored() {
        get();
        opener.last().succeed();
        FakeOpening failed = opener.last();
        failed.events.onReset(stale(RetrySafety.ALWAYS));
        opener.last().succeed();
        failed.events.onHead(response(500), false);
        failed.events.onData(bytes("old"), true);
        failed.events.onReset(stale(RetrySafety.ALWAYS));
        opener.last().events.onHead(response(200), true);
        assertThat(client.status()).isEqualTo(200);
        assertThat(client.body).isEmpty();
    }

    @Test
    void anEndpointThatFailsInsideTheCallIsLeftForTheNext() {
        opener.atOnce = opening -> {
            if (opening.endpoint.equals(FIRST)) {
                opening.fail(failure(Cause.CONNECT_FAILED, RetrySafety.ALWAYS));
            } else {
                opening.succeed();
            }
        };
        StreamEvents events = get();
        events.onReadComplete();
        assertThat(upstream().flushes).isEqualTo(1);
        opener.last().events.onHead(response(200), true);
        assertThat(record().attempts).isEqualTo(2);
        assertThat(opener.openings.get(0).cancelled).isFalse();
    }

    @Test
    void anotherEndpointMayHaveRoomForTheRequest() {
        get();
        Endpoint asked = opener.last().endpoint.equals(FIRST) ? SECOND : FIRST;
        opener.last().callback.onMoved(asked);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().endpoint).isEqualTo(asked);
    }

    @Test
    void aBalancerThatThrowsOnAFurtherAttemptFailsItsExchangeAlone() {
        Upstream upstream = new Upstream(
                "app",
                endpoints,
                hosts -> request -> {
                    if (request.previous() != null) {
                        throw new IllegalStateException("a defect");
                    }
                    return FIRST;
                },
                UpstreamValues.builder()
                        .maxConnections(10)
                        .maxPendingRequests(10)
                        .maxRequests(10)
                        .build());
        settings.route(filters, upstream, timeouts, new Route.Retry(1, Set.of(), 50));
        handler().onRequest(client, head("GET", "/"), true).onReadComplete();
        opener.last().fail(Failure.of(Cause.CONNECT_FAILED, RetrySafety.ALWAYS, "refused"));
        pass(100);
        assertAnswered(500, Cause.UNKNOWN);
    }

    private Balancer turns(List<Endpoint> order) {
        return new RoundRobin(new Upstream("turns", order, RoundRobin::new, policy()).hosts());
    }
}
