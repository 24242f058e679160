package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.exchange.Fakes.FakeOpening;
import dev.gateway.exchange.route.Route;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.StreamEvents;
import dev.gateway.testing.Buffers;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.OutlierDetection;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What an endpoint is blamed for: what it did with requests that it had, and nothing else. */
class OutcomeTest extends ExchangeRig {
    @BeforeEach
    void count() {
        outliers = new OutlierDetection(OutlierDetection.Counts.ANY_FAILURE, 100, 1000, 1000, 100);
    }

    @Test
    void answersFrom500CountAndOthersForgiveThem() {
        retry = new Route.Retry(2, Set.of(503, 500), 0);
        endpoints = List.of(FIRST);
        get();
        answer(503);
        assertThat(failures(FIRST)).isEqualTo(1);
        answer(500);
        assertThat(failures(FIRST)).isEqualTo(2);
        answer(404);
        assertThat(failures(FIRST)).isZero();
    }

    @ParameterizedTest
    @CsvSource({"14, true", "15, true", "14, false"})
    void aCallOfGrpcThatTheEndpointFailsCounts(String status, boolean last) {
        get();
        opener.last().succeed();
        opener.last().events.onHead(call("application/grpc", status), last);
        assertThat(failures(FIRST)).isEqualTo(1);
        if (!last) {
            opener.last().events.onTrailers(status("0"));
            assertThat(failures(FIRST)).as("it is judged once").isEqualTo(1);
        }
    }

    @ParameterizedTest
    @CsvSource({"14, 2", "15, 2", "0, 0", "2, 0", "4, 0", "5, 0", "12, 0", "13, 0"})
    void howACallOfGrpcWentIsKnownAtItsEnd(String status, int failures) {
        retry = new Route.Retry(1, Set.of(503), 0);
        endpoints = List.of(FIRST);
        get();
        answer(503);
        opener.last().succeed();
        opener.last().events.onHead(call("application/grpc+proto", null), false);
        assertThat(failures(FIRST)).as("its head forgives nothing").isEqualTo(1);
        opener.last().events.onTrailers(status(status));
        assertThat(failures(FIRST)).isEqualTo(failures);
    }

    @Test
    void aCallOfGrpcThatIsBrokenOffIsOneFailure() {
        get();
        opener.last().succeed();
        opener.last().events.onHead(call("application/grpc", null), false);
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.NEVER));
        assertThat(failures(FIRST)).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"application/grpc-web", "application/grpc-web+proto", "application/json"})
    void trailersOfOtherAnswersTellNothing(String type) {
        get();
        opener.last().succeed();
        opener.last().events.onHead(call(type, null), false);
        opener.last().events.onTrailers(status("14"));
        assertThat(failures(FIRST)).isZero();
    }

    private static ResponseHead call(String type, @Nullable String status) {
        ResponseHead head = response(200);
        head.fields().add(FieldName.CONTENT_TYPE, type);
        if (status != null) {
            head.fields().add(FieldName.of("grpc-status"), status);
        }
        return head;
    }

    private static Fields status(String status) {
        Fields trailers = new Fields();
        trailers.add(FieldName.of("grpc-status"), status);
        return trailers;
    }

    @Test
    void anInterimAnswerIsNone() {
        endpoints = List.of(FIRST);
        retry = new Route.Retry(1, Set.of(503), 0);
        get();
        answer(503);
        opener.last().succeed();
        opener.last().events.onHead(response(103), false);
        assertThat(failures(FIRST)).isEqualTo(1);
        opener.last().events.onHead(response(200), true);
        assertThat(failures(FIRST)).isZero();
    }

    @ParameterizedTest
    @EnumSource(names = {"UPSTREAM_RESET_BEFORE_HEADERS", "UPSTREAM_RESET_IN_BODY", "UPSTREAM_PROTOCOL_ERROR"})
    void whoeverTakesARequestAndBreaksItOffIsBlamed(Cause cause) {
        get();
        opener.last().succeed();
        opener.last().events.onReset(failure(cause, RetrySafety.IF_IDEMPOTENT));
        assertThat(failures(FIRST)).isEqualTo(1);
    }

    @Test
    void soIsWhoBreaksOffAResponse() {
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.NEVER));
        assertThat(failures(FIRST)).isEqualTo(1);
    }

    /** Or an endpoint that breaks off each response would never be ejected. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void onlyAWholeResponseMakesFailuresForgotten(boolean whole) {
        retry = new Route.Retry(1, Set.of(503), 0);
        endpoints = List.of(FIRST);
        get();
        answer(503);
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        opener.last().events.onData(Buffers.of("some"), false);
        assertThat(failures(FIRST)).isEqualTo(1);
        if (whole) {
            opener.last().events.onData(Buffers.of("rest"), true);
        } else {
            opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_IN_BODY, RetrySafety.NEVER));
        }
        assertThat(failures(FIRST)).isEqualTo(whole ? 0 : 2);
    }

    @Test
    void anErrorThatIsBrokenOffIsOneFailure() {
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(503), false);
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.NEVER));
        assertThat(failures(FIRST)).isEqualTo(1);
    }

    @Test
    void whoSaysThatItDidNotLookAtARequestIsNotBlamed() {
        get();
        opener.last().succeed();
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS));
        answer(200);
        assertThat(failures(FIRST)).isZero();
    }

    @Test
    void aKeptConnectionThatHadBeenClosedIsNobodysFault() {
        get();
        opener.last().succeed();
        opener.last().events.onReset(stale(RetrySafety.ALWAYS));
        answer(200);
        assertThat(failures(FIRST)).isZero();
        assertThat(failures(SECOND)).isZero();
    }

    @Test
    void whatHappensBeforeThereIsAConnectionIsForPoolsToTell() {
        retry = new Route.Retry(1, Set.of(), 0);
        get();
        opener.last().fail(Failure.of(Cause.CONNECT_FAILED, RetrySafety.ALWAYS, "refused"));
        opener.last().fail(Failure.of(Cause.PENDING_OVERFLOW, RetrySafety.ALWAYS, "too many"));
        opener.last().fail(Failure.of(Cause.PENDING_TIMEOUT, RetrySafety.ALWAYS, "too long"));
        assertAnswered(503, Cause.PENDING_TIMEOUT);
        assertThat(failures(FIRST) + failures(SECOND)).isZero();
    }

    @Test
    void whoDoesNotAnswerInTimeIsBlamedForEachAttempt() {
        timeouts = new Route.Timeouts(0, 100, 0, TunnelTimeouts.NONE);
        retry = new Route.Retry(1, Set.of(), 0);
        get();
        opener.last().succeed();
        pass(150);
        opener.last().succeed();
        pass(150);
        assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
        assertThat(failures(FIRST)).isEqualTo(1);
        assertThat(failures(SECOND)).isEqualTo(1);
    }

    @Test
    void soIsWhoDoesNotAnswerWithinTheTimeOfTheRequest() {
        timeouts = new Route.Timeouts(100, 0, 0, TunnelTimeouts.NONE);
        get();
        opener.last().succeed();
        pass(150);
        assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
        assertThat(failures(FIRST)).isEqualTo(1);
    }

    @Test
    void whoWaitsForTheClientOrIsSlowIsNotBlamed() {
        timeouts = new Route.Timeouts(100, 0, 0, TunnelTimeouts.NONE);
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("some"), false);
        pass(150);
        assertAnswered(408, Cause.CLIENT_TIMEOUT);
        assertThat(failures(FIRST)).isZero();
    }

    @ParameterizedTest
    @CsvSource({"100, 0, 0", "0, 100, 0", "0, 1000, 100"})
    void whoDoesNotTakeTheRequestIsBlamedWhicheverLimitEndsIt(long head, long idle, long request) {
        responseHeadersMillis = head;
        timeouts = new Route.Timeouts(request, 0, idle, TunnelTimeouts.NONE);
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        upstream().writable = false;
        events.onData(bytes("some"), false);
        pass(150);
        assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
        assertThat(failures(FIRST)).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whoTakesALongRequestSteadilyIsNot(boolean byAttempt) {
        responseHeadersMillis = 100;
        timeouts = new Route.Timeouts(byAttempt ? 0 : 200, byAttempt ? 200 : 0, 100, TunnelTimeouts.NONE);
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        for (int i = 0; i < 5; i++) {
            upstream().writable = false;
            events.onData(bytes("some"), false);
            pass(50);
            upstream().writable = true;
            opener.last().events.onWritable();
        }
        assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
        assertThat(failures(FIRST)).isZero();
    }

    @Test
    void whoDoesNotAnswerAnUpgradeIsBlamedThoughNothingOfATunnelHasCome() {
        responseHeadersMillis = 100;
        settings.upgrades = new Route.Upgrades(Set.of(new AsciiString("websocket")), Set.of());
        route();
        RequestHead upgrade = head("CONNECT", "/chat");
        upgrade.setProtocol(new AsciiString("websocket"));
        handler().onRequest(client, upgrade, false);
        opener.last().succeed();
        pass(150);
        assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
        assertThat(failures(FIRST)).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"1m", "1000u", "1n", "0S", "50m"})
    void nobodyIsBlamedForTheTimeThatTheClientOfACallChose(String time) {
        responseHeadersMillis = 1_000;
        retry = new Route.Retry(3, Set.of(504), 0);
        grpc(time);
        pass(150);
        assertThat(upstream().reset).isNotNull();
        assertThat(record().cause).isEqualTo(Cause.UPSTREAM_TIMEOUT);
        assertThat(record().detail).contains("grpc-timeout");
        assertThat(record().attempts).isEqualTo(1);
        assertThat(failures(FIRST)).isZero();
    }

    @Test
    void whoHasNoRoomIsNotBlamedForWhatItWasNotGiven() {
        timeouts = new Route.Timeouts(0, 0, 100, TunnelTimeouts.NONE);
        request("POST", "/", false);
        opener.last().succeed();
        upstream().writable = false; // others may have filled the connection
        pass(150);
        assertAnswered(408, Cause.CLIENT_TIMEOUT); // it has sent nothing that would need room
        assertThat(failures(FIRST)).isZero();
    }

    @Test
    void whoIsSlowWithTheBodyIsNotBlamed() {
        timeouts = new Route.Timeouts(100, 0, 0, TunnelTimeouts.NONE);
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        pass(150);
        assertThat(record().cause).isEqualTo(Cause.UPSTREAM_TIMEOUT);
        assertThat(failures(FIRST)).isZero();
    }

    @Test
    void aTimeThatRunsOutBetweenTwoAttemptsIsNobodysFault() {
        timeouts = new Route.Timeouts(0, 0, 100, TunnelTimeouts.NONE);
        retry = new Route.Retry(1, Set.of(503), 10_000);
        request("PUT", "/", false);
        answer(503);
        pass(150);
        assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
        assertThat(failures(FIRST)).as("for its answer alone").isEqualTo(1);
    }

    @Test
    void clientsThatGoAwayAreNotTheEndpointsFault() {
        StreamEvents events = get();
        opener.last().succeed();
        events.onReset(GONE);
        assertThat(failures(FIRST)).isZero();
    }

    @Test
    void whoIsEjectedForAFailureIsTriedIfNobodyElseCanBeReached() {
        outliers = new OutlierDetection(OutlierDetection.Counts.ANY_FAILURE, 1, 1000, 1000, 100);
        get();
        health().onUnanswered(SECOND, 0, 0);
        opener.last().fail(Failure.of(Cause.CONNECT_FAILED, RetrySafety.ALWAYS, "refused"));
        assertThat(opener.openings).extracting(opening -> opening.endpoint).containsExactly(FIRST, SECOND);
        opener.last().fail(Failure.of(Cause.CONNECT_FAILED, RetrySafety.ALWAYS, "refused"));
        assertAnswered(502, Cause.CONNECT_FAILED);
        assertThat(opener.openings).as("each was tried once").hasSize(2);
    }

    private void answer(int status) {
        FakeOpening opening = opener.last();
        opening.succeed();
        opening.events.onHead(response(status), true);
    }

    private Health health() {
        return Objects.requireNonNull(health);
    }

    private int failures(Endpoint endpoint) {
        return health().report(endpoint).failures();
    }
}
