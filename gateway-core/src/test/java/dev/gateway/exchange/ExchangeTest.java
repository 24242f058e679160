package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

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
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An exchange between a client and an upstream that the test plays. */
class ExchangeTest extends ExchangeRig {
    // ---- the plain way

    @Test
    void aRequestIsForwardedAndItsResponseComesBack() {
        StreamEvents events = get();
        events.onReadComplete();
        opener.last().succeed();
        assertThat(upstream().ended).isTrue();
        assertThat(upstream().flushes).isEqualTo(1);
        opener.last().events.onHead(response(200), false);
        opener.last().events.onData(bytes("hello "), false);
        opener.last().events.onReadComplete();
        assertThat(client.flushes).isEqualTo(1);
        opener.last().events.onData(bytes("world"), true);
        opener.last().events.onReadComplete();
        assertThat(client.body).hasToString("hello world");
        assertThat(client.ended).isTrue();
        assertThat(client.unflushed).isZero();
        assertThat(upstream().reset).isNull();
        assertThat(record().status).isEqualTo(200);
        assertThat(record().cause).isNull();
        assertThat(record().sentBytes).isEqualTo(11);
        assertThat(record().attempts).isEqualTo(1);
        assertThat(record().route).isEqualTo("app");
        assertThat(record().upstream).isEqualTo("app");
        assertThat(record().endpoint).hasToString("app.test:9000");
        assertThat(records.attempts).containsExactly("200");
    }

    @Test
    void anUpstreamThatAnswersInsideTheCallsIsServedAlike() {
        opener.atOnce = opening -> {
            opening.stream.onNextCall = () -> {
                opening.events.onHead(response(200), false);
                opening.events.onData(bytes("x"), true);
            };
            opening.succeed();
        };
        StreamEvents events = get();
        events.onReadComplete();
        assertThat(client.body).hasToString("x");
        assertThat(client.unflushed).isZero();
        assertThat(record().cause).isNull();
        assertThat(upstream().reset).isNull();
    }

    @Test
    void aHeadSentWhileTheClientIsBeingReadIsFlushedWithWhatFollows() {
        opener.atOnce = FakeOpening::succeed;
        StreamEvents events = request("POST", "/", false);
        events.onData(bytes("a"), false);
        assertThat(upstream().flushes).isZero();
        events.onReadComplete();
        assertThat(upstream().flushes).isEqualTo(1);
        events.onData(bytes("b"), true);
        events.onReadComplete();
        assertThat(upstream().flushes).isEqualTo(2);
        assertThat(upstream().body).hasToString("ab");
        assertThat(upstream().ended).isTrue();
        opener.last().events.onHead(response(204), true);
        assertThat(record().receivedBytes).isEqualTo(2);
        assertThat(record().status).isEqualTo(204);
    }

    @Test
    void hopByHopFieldsStayBehindAndForwardedOnesAreAdded() {
        route();
        RequestHead head = head("GET", "/a/../b");
        head.fields().add(FieldName.CONNECTION, "X-Secret, close");
        head.fields().add(FieldName.of("X-Secret"), "1");
        head.fields().add(FieldName.UPGRADE, "websocket");
        head.fields().add(FieldName.X_FORWARDED_FOR, "203.0.113.9");
        handler().onRequest(client, head, true);
        opener.last().succeed();
        Fields sent = upstream().head().fields();
        assertThat(sent.contains(FieldName.of("X-Secret"))).isFalse();
        assertThat(sent.contains(FieldName.UPGRADE)).isFalse();
        assertThat((CharSequence) sent.first(FieldName.X_FORWARDED_FOR)).hasToString("192.0.2.7");
        assertThat(sent.contains(FieldName.VIA)).isFalse();
        assertThat((CharSequence) upstream().head().path()).hasToString("/b");
        ResponseHead response = response(200);
        response.fields().add(FieldName.CONNECTION, "close");
        opener.last().events.onHead(response, true);
        assertThat(client.field("Connection")).isNull();
        assertThat((CharSequence) record().path).hasToString("/a/../b");
    }

    @Test
    void trailersPassBothWays() {
        StreamEvents events = request("POST", "/", false);
        events.onData(bytes("a"), false);
        Fields up = new Fields();
        up.add(FieldName.of("grpc-up"), "1");
        events.onTrailers(up);
        events.onReadComplete();
        opener.last().succeed();
        assertThat(upstream().body).hasToString("a");
        assertThat(upstream().trailers).isNotNull();
        opener.last().events.onHead(response(200), false);
        opener.last().events.onData(bytes("b"), false);
        Fields down = new Fields();
        down.add(FieldName.of("grpc-status"), "0");
        down.add(FieldName.CONTENT_LENGTH, "7");
        opener.last().events.onTrailers(down);
        assertThat(client.trailers).hasToString("grpc-status: 0\n");
        assertThat(client.unflushed).isZero();
        assertThat(record().cause).isNull();
    }

    /** Some servers merge trailers into the head, and believe what stands there. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void trailersOfAClientSayNothingThatOnlyAHeadMaySay(boolean held) {
        StreamEvents events = request("POST", "/", false);
        if (!held) {
            opener.last().succeed();
        }
        events.onData(bytes("a"), false);
        Fields trailers = new Fields();
        for (String name : List.of(
                "Authorization",
                "Proxy-Authorization",
                "Cookie",
                "Content-Length",
                "Transfer-Encoding",
                "Connection",
                "Host",
                "Forwarded",
                "X-Forwarded-For",
                "X-Forwarded-Proto",
                "X-Real-IP",
                "traceparent",
                "Pragma")) {
            trailers.add(FieldName.of(name), "1");
        }
        trailers.add(FieldName.of("x-sum"), "2");
        events.onTrailers(trailers);
        if (held) {
            opener.last().succeed();
        }
        assertThat(upstream().trailers).hasToString("x-sum: 2\n");
        opener.last().events.onHead(response(204), true);
    }

    @Test
    void interimResponsesAreRelayedBeforeTheFinalOne() {
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(103), false);
        opener.last().events.onReadComplete();
        assertThat(client.status()).isEqualTo(103);
        assertThat(client.flushes).isEqualTo(1);
        opener.last().events.onHead(response(100), false);
        opener.last().events.onHead(response(200), true);
        assertThat(client.heads).extracting(ResponseHead::status).containsExactly(103, 100, 200);
        assertThat(record().status).isEqualTo(200);
    }

    @Test
    void anUpstreamThatSwitchesProtocolsUnaskedIsRefused() {
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(101), false);
        assertAnswered(502, Cause.UPSTREAM_PROTOCOL_ERROR);
        assertThat(upstream().reset).isNotNull();
    }

    // ---- the client goes away

    @Test
    void aClientThatLeavesWhileConnectingCancelsTheOpening() {
        StreamEvents events = request("POST", "/", false);
        events.onData(bytes("held"), false);
        events.onReset(GONE);
        assertThat(opener.last().cancelled).isTrue();
        assertThat(record().status).isEqualTo(499);
        assertThat(record().cause).isEqualTo(Cause.CLIENT_CLOSED);
        assertThat(client.heads).isEmpty();
    }

    @Test
    void aClientThatLeavesWhileWaitingForTheResponseResetsTheUpstream() {
        StreamEvents events = get();
        opener.last().succeed();
        events.onReset(GONE);
        assertThat(upstream().reset).isEqualTo(GONE);
        assertThat(record().status).isEqualTo(499);
        opener.last().events.onHead(response(200), false);
        opener.last().events.onData(bytes("late"), true);
        assertThat(client.heads).isEmpty();
    }

    @Test
    void aClientThatStopsSendingItsBodyIsToldSo() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onReset(Failure.of(Cause.CLIENT_TIMEOUT, "the request body did not come in time"));
        assertAnswered(408, Cause.CLIENT_TIMEOUT);
        assertThat(upstream().reset).isNotNull();
    }

    @Test
    void aClientThatStopsSendingItsBodyOnceAnsweredIsNotAnsweredAgain() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        events.onReset(Failure.of(Cause.CLIENT_TIMEOUT, "the request body did not come in time"));
        assertThat(client.heads).hasSize(1);
        assertThat(record().status).isEqualTo(200);
        assertThat(record().cause).isEqualTo(Cause.CLIENT_TIMEOUT);
    }

    @Test
    void aClientThatLeavesInTheBodyResetsTheUpstream() {
        StreamEvents events = get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        events.onReset(GONE);
        assertThat(upstream().reset).isEqualTo(GONE);
        assertThat(record().status).isEqualTo(200);
        assertThat(record().cause).isEqualTo(Cause.CLIENT_CLOSED);
    }

    @Test
    void aClientThatLeavesInsideACallIsNoticed() {
        StreamEvents[] events = new StreamEvents[1];
        events[0] = get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        client.onNextCall = () -> events[0].onReset(GONE);
        opener.last().events.onData(bytes("x"), false);
        opener.last().events.onData(bytes("y"), true);
        assertThat(upstream().reset).isEqualTo(GONE);
        assertThat(record().cause).isEqualTo(Cause.CLIENT_CLOSED);
    }

    @Test
    void aClientThatLeavesWhileTheNextAttemptWaitsIsForgotten() {
        retry = new Route.Retry(1, Set.of(503), 100);
        StreamEvents events = get();
        opener.last().succeed();
        opener.last().events.onHead(response(503), true);
        events.onReset(GONE);
        pass(500);
        assertThat(opener.openings).hasSize(1);
        assertThat(record().status).isEqualTo(499);
    }

    @Test
    void anUpstreamThatBreaksOffInsideTheCallThatSendsItTheHeadIsNoticed() {
        opener.atOnce = opening -> {
            opening.stream.onNextCall =
                    () -> opening.events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.NEVER));
            opening.succeed();
        };
        StreamEvents events = request("POST", "/", false);
        assertAnswered(502, Cause.UPSTREAM_RESET_BEFORE_HEADERS);
        events.onData(bytes("late"), true);
        events.onReset(GONE);
        assertThat(record().cause).isEqualTo(Cause.UPSTREAM_RESET_BEFORE_HEADERS);
    }

    // ---- defects

    private static void defect() {
        throw new IllegalStateException("a defect");
    }

    @Test
    void anAnswerThatThrowsDoesNotKeepTheExchangeOpen() {
        get();
        client.onNextCall = ExchangeTest::defect;
        opener.last().fail(failure(Cause.CONNECT_FAILED, RetrySafety.NEVER));
        assertThat(record().cause).isEqualTo(Cause.CONNECT_FAILED);
        assertThat(client.reset).isNotNull();
    }

    @Test
    void anAnswerToWhatTheClientDidWrongThatThrowsDoesNotKeepTheExchangeOpen() {
        client.onNextCall = ExchangeTest::defect;
        request("POST", "/", false).onReset(failure(Cause.CLIENT_PROTOCOL_ERROR, RetrySafety.NEVER));
        assertThat(record().cause).isEqualTo(Cause.CLIENT_PROTOCOL_ERROR);
    }

    @Test
    void aResetThatThrowsDoesNotKeepTheExchangeOpen() {
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        client.reset = GONE; // and refuses another one
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_IN_BODY, RetrySafety.NEVER));
        assertThat(record().cause).isEqualTo(Cause.UPSTREAM_RESET_IN_BODY);
    }

    @Test
    void aLastFlushThatThrowsDoesNotKeepTheExchangeOpen() {
        get();
        opener.last().succeed();
        client.onFlush = ExchangeTest::defect;
        opener.last().events.onHead(response(200), true);
        opener.last().events.onReadComplete();
        assertThat(record().status).isEqualTo(200);
    }

    @Test
    void theUpstreamIsToldHowTheClientIsConnectedAndNotWhatItClaims() {
        route();
        RequestHead head = head("GET", "/");
        head.setScheme(new AsciiString("https"));
        handler().onRequest(client, head, true).onReadComplete();
        opener.last().succeed();
        assertThat(opener.last().stream.head().scheme().toString()).isEqualTo("http");
        opener.last().events.onHead(response(204), true);
    }
}
