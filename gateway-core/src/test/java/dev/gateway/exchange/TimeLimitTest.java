package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.exchange.reply.GrpcStatus;
import dev.gateway.exchange.route.Route;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.StreamEvents;
import io.netty.util.AsciiString;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Time limits of an exchange, by the clock that the test moves. */
class TimeLimitTest extends ExchangeRig {
    @Test
    void aRequestThatTakesTooLongTimesOutWhileConnecting() {
        timeouts = new Route.Timeouts(100, 0, 0, TunnelTimeouts.NONE);
        get();
        pass(150);
        assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
        assertThat(opener.last().cancelled).isTrue();
    }

    @Test
    void aRequestThatTakesTooLongTimesOutInTheBody() {
        timeouts = new Route.Timeouts(100, 0, 0, TunnelTimeouts.NONE);
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        pass(150);
        assertThat(client.reset).isNotNull();
        assertThat(upstream().reset).isNotNull();
        assertThat(record().cause).isEqualTo(Cause.UPSTREAM_TIMEOUT);
        assertThat(record().status).isEqualTo(200);
    }

    @Test
    void anAttemptThatTakesTooLongIsRepeatedIfThePolicySaysSo() {
        timeouts = new Route.Timeouts(0, 100, 0, TunnelTimeouts.NONE);
        retry = new Route.Retry(1, Set.of(), 0);
        get();
        opener.last().succeed();
        pass(150);
        assertThat(upstream().reset == null).isTrue();
        assertThat(opener.openings).hasSize(2);
        assertThat(opener.openings.get(0).stream.reset).isNotNull();
        opener.last().succeed();
        pass(150);
        assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
    }

    @Test
    void whatCouldNotBeSentInTimeIsSentElsewhereWhateverTheMethod() {
        timeouts = new Route.Timeouts(0, 100, 0, TunnelTimeouts.NONE);
        request("POST", "/", true);
        pass(150);
        assertThat(opener.openings).hasSize(2);
        assertThat(opener.openings.get(0).expired).isTrue();
        assertThat(opener.openings.get(1).endpoint).isNotEqualTo(opener.openings.get(0).endpoint);
        pass(150);
        assertThat(opener.openings.get(1).expired).isTrue();
        assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
    }

    @Test
    void anUpstreamThatDoesNotAnswerTimesOut() {
        responseHeadersMillis = 100;
        get();
        pass(300);
        assertThat(client.heads).isEmpty();
        opener.last().succeed();
        pass(150);
        assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
    }

    /** Also one that other proxies give up after a minute, and without a retry. */
    @Test
    void aFirstByteAfter59SecondsArrivesByDefault() {
        useDefaults();
        get();
        opener.last().succeed();
        pass(59_000);
        assertThat(client.heads).isEmpty();
        opener.last().events.onHead(response(200), false);
        opener.last().events.onData(bytes("late"), true);
        assertThat(client.body).hasToString("late");
        assertThat(record().status).isEqualTo(200);
        assertThat(record().cause).isNull();
        assertThat(record().attempts).isEqualTo(1);
    }

    @Test
    void aStreamWithAByteEveryFourMinutesLivesByDefault() {
        useDefaults();
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        for (int i = 0; i < 15; i++) {
            pass(240_000);
            opener.last().events.onData(bytes("x"), false);
        }
        assertThat(client.reset).isNull();
        assertThat(client.body).hasToString("x".repeat(15));
        pass(299_000);
        assertThat(client.reset).isNull();
        pass(2_000);
        assertThat(client.reset).as("after five minutes without a byte").isNotNull();
        assertThat(record().cause).isEqualTo(Cause.IDLE_TIMEOUT);
    }

    /** And not the time of the upstream, which is for answers that come at once. */
    @Test
    void aCallOfGrpcHasTheTimeThatItsClientGives() {
        responseHeadersMillis = 100;
        grpc("1S");
        pass(900);
        assertThat(upstream().reset).isNull();
        pass(200);
        assertThat(upstream().reset).isNotNull();
        assertThat(record().status).isEqualTo(504);
    }

    /** The upstream has the same time from the client, and may be sooner than the gateway's timer. */
    @ParameterizedTest
    @CsvSource({"999, UPSTREAM_RESET_BEFORE_HEADERS", "1000, UPSTREAM_TIMEOUT", "1005, UPSTREAM_TIMEOUT"})
    void anUpstreamThatResetsACallWhenItsTimeIsOverHasNotFailed(long millis, Cause cause) {
        grpc("1S");
        now += TimeUnit.MILLISECONDS.toNanos(millis);
        opener.last().events.onReset(Failure.of(Cause.UPSTREAM_RESET_BEFORE_HEADERS, "reset: CANCEL"));
        assertThat(record().cause).isEqualTo(cause);
        assertThat(record().detail.contains("the 1000 ms that the client gives"))
                .isEqualTo(millis >= 1000);
    }

    @Test
    void aBodyThatStallsIsTheClientsFault() {
        timeouts = new Route.Timeouts(0, 0, 100, TunnelTimeouts.NONE);
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("some"), false);
        pass(150);
        assertAnswered(408, Cause.CLIENT_TIMEOUT);
        assertThat(upstream().reset).isNotNull();
    }

    @Test
    void aBodyThatTheUpstreamDoesNotTakeIsTheUpstreamsFault() {
        timeouts = new Route.Timeouts(0, 0, 100, TunnelTimeouts.NONE);
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        upstream().writable = false;
        events.onData(bytes("some"), false);
        pass(150);
        assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
    }

    /** It comes slowly, but never stops. */
    @ParameterizedTest
    @CsvSource({"400, 0, true", "0, 400, true", "400, 0, false"})
    void aBodyThatHasNotComeWhenTheTimeIsOverIsTheClientsFault(long request, long attempt, boolean isTaken) {
        timeouts = new Route.Timeouts(request, attempt, 300, TunnelTimeouts.NONE);
        retry = new Route.Retry(1, Set.of(), 0);
        StreamEvents events = request("PUT", "/", false);
        opener.last().succeed();
        for (int i = 0; i < 4; i++) {
            upstream().writable = isTaken || i < 3;
            events.onData(bytes("x"), false);
            pass(90);
        }
        assertThat(client.heads).isEmpty();
        pass(90);
        if (isTaken) {
            assertAnswered(408, Cause.CLIENT_TIMEOUT);
            assertThat(opener.openings).hasSize(1);
            assertThat(upstream().reset).isNotNull();
            assertThat(records.attempts).containsExactly("client_timeout");
        } else {
            assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "soon", " ", "5", "S", "1d", "123456789S"})
    void aCallWithoutATimeWaitsForAsLongAsNothingElseEndsIt(String time) {
        responseHeadersMillis = 100;
        timeouts = new Route.Timeouts(0, 0, 3_000, TunnelTimeouts.NONE);
        grpc(time);
        pass(2_400);
        assertThat(upstream().reset).isNull();
        pass(700);
        assertThat(upstream().reset).isNotNull();
        assertThat(record().cause).isEqualTo(Cause.UPSTREAM_TIMEOUT);
        assertThat(record().detail).contains("no byte in either direction");
    }

    @ParameterizedTest
    @CsvSource({"5H, 3600000", "99999999H, 3600000", "61M, 3600000", "90S, 90000", "00000250m, 250", "2500u, 2"})
    void noCallWaitsForMoreThanAnHour(String time, long millis) {
        RequestHead head = head("POST", "/Shop/Buy");
        head.fields().add(FieldName.of("grpc-timeout"), time);
        assertThat(GrpcStatus.timeoutMillis(head)).isEqualTo(millis);
    }

    @Test
    void theTimeOfARequestHoldsForACall() {
        timeouts = new Route.Timeouts(100, 0, 0, TunnelTimeouts.NONE);
        grpc("1H");
        pass(150);
        assertThat(record().detail).contains("no whole response in 100 ms");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theTimeForAResponseBeginsWithTheEndOfTheRequest(boolean trailers) {
        responseHeadersMillis = 100;
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("some"), false);
        pass(1000);
        assertThat(client.heads).isEmpty();
        if (trailers) {
            events.onTrailers(new Fields());
        } else {
            events.onData(bytes("the rest"), true);
        }
        pass(50);
        assertThat(client.heads).isEmpty();
        pass(100);
        assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
    }

    /** Sends a request whose client waits before it sends the body. */
    private StreamEvents expecting() {
        route();
        RequestHead head = head("POST", "/");
        head.fields().add(FieldName.EXPECT, AsciiString.of("100-continue"));
        return handler().onRequest(client, head, false);
    }

    @Test
    void theTimeForAResponseGoesOnWhileTheClientWaitsForConsentToItsBody() {
        responseHeadersMillis = 100;
        expecting();
        opener.last().succeed();
        pass(150);
        assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
    }

    @Test
    void aClientThatAnUpstreamLeavesWaitingForConsentGetsItFromTheGateway() {
        StreamEvents events = expecting();
        pass(2_000); // a connection is being made
        opener.last().succeed();
        pass(900);
        assertThat(client.heads).isEmpty();
        pass(200);
        assertThat(client.heads).extracting(ResponseHead::status).containsExactly(100);
        opener.last().events.onHead(response(100), false);
        events.onData(bytes("all"), true);
        opener.last().events.onHead(response(200), true);
        assertThat(client.heads).extracting(ResponseHead::status).containsExactly(100, 200);
        assertThat(record().cause).isNull();
    }

    @Test
    void aClientThatHasItsAnswerGetsNoConsent() {
        expecting();
        opener.last().succeed();
        opener.last().events.onHead(response(413), false);
        pass(2_000);
        assertThat(client.heads).extracting(ResponseHead::status).containsExactly(413);
        opener.last().events.onData(bytes(""), true);
    }

    @Test
    void aClientThatSendsItsBodyNeedsNoConsent() {
        StreamEvents events = expecting();
        opener.last().succeed();
        events.onData(bytes("some"), false);
        pass(2_000);
        assertThat(client.heads).isEmpty();
        events.onData(bytes("all"), true);
        opener.last().events.onHead(response(200), true);
    }

    @Test
    void onceTheUpstreamHasConsentedItIsTheClientsTurn() {
        responseHeadersMillis = 100;
        StreamEvents events = expecting();
        opener.last().succeed();
        opener.last().events.onHead(response(100), false);
        pass(1000);
        assertThat(client.heads).extracting(ResponseHead::status).containsExactly(100);
        events.onData(bytes("all"), true);
        opener.last().events.onHead(response(200), true);
        assertThat(record().cause).isNull();
    }

    @Test
    void anUpstreamIsGivenTimeAsLongAsTheRequestMakesProgress() {
        responseHeadersMillis = 100;
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        for (int i = 0; i < 5; i++) {
            pass(70);
            events.onData(bytes("x"), false);
        }
        assertThat(client.heads).isEmpty();
        opener.last().events.onHead(response(200), false);
        pass(1000);
        opener.last().events.onData(bytes("y"), true);
        assertThat(record().cause).isNull();
    }

    @Test
    void theNearestOfSeveralLimitsEndsARequest() {
        timeouts = new Route.Timeouts(400, 0, 300, TunnelTimeouts.NONE);
        responseHeadersMillis = 100;
        get();
        opener.last().succeed();
        pass(80);
        assertThat(client.heads).isEmpty();
        pass(60);
        assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
    }

    @Test
    void bytesThatMoveWhileTheNextAttemptWaitsDoNotDelayIt() {
        timeouts = new Route.Timeouts(0, 0, 70, TunnelTimeouts.NONE);
        retry = new Route.Retry(1, Set.of(503), 100);
        StreamEvents events = request("PUT", "/", false);
        opener.last().succeed();
        opener.last().events.onHead(response(503), true);
        pass(60);
        events.onData(bytes("a"), false);
        pass(60);
        assertThat(opener.openings).hasSize(2);
        opener.last().succeed();
        events.onData(bytes("b"), true);
        opener.last().events.onHead(response(200), true);
        assertThat(client.status()).isEqualTo(200);
        assertThat(upstream().body).hasToString("ab");
    }

    @Test
    void aStreamOnWhichNothingMovesTimesOut() {
        timeouts = new Route.Timeouts(0, 0, 100, TunnelTimeouts.NONE);
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        for (int i = 0; i < 5; i++) {
            pass(70);
            opener.last().events.onData(bytes("x"), false);
        }
        assertThat(client.reset).isNull();
        pass(150);
        assertThat(client.reset).isNotNull();
        assertThat(record().cause).isEqualTo(Cause.IDLE_TIMEOUT);
    }
}
