package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.exchange.Fakes.FakeOpening;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.filter.rewrite.DirectResponse;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.OddNames;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.overload.Stalled;
import dev.gateway.route.Route;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.Identity;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.StreamEvents;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.RoundRobin;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.UpstreamSettings;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
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
        assertThat((CharSequence) sent.first(FieldName.VIA)).hasToString("1.1 " + settings.signature);
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

    // ---- the body and its credit

    @Test
    void bytesThatArriveBeforeTheStreamIsOpenAreHeldWithoutCredit() {
        StreamEvents events = request("POST", "/", false);
        events.onData(bytes("ab"), false);
        events.onData(bytes("cd"), true);
        events.onReadComplete();
        assertThat(client.consumed).isZero();
        opener.last().succeed();
        assertThat(upstream().body).hasToString("abcd");
        assertThat(upstream().ended).isTrue();
        assertThat(upstream().unflushed).isZero();
        assertThat(client.consumed).isEqualTo(4);
        opener.last().events.onHead(response(200), true);
    }

    @Test
    void aClientGetsCreditOnlyForWhatTheUpstreamHasRoomFor() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        upstream().writable = false;
        events.onData(bytes("abc"), false);
        events.onData(bytes("de"), false);
        assertThat(client.consumed).isZero();
        upstream().writable = true;
        opener.last().events.onWritable();
        assertThat(client.consumed).isEqualTo(5);
        events.onData(bytes("f"), true);
        assertThat(client.consumed).isEqualTo(6);
        opener.last().events.onHead(response(200), true);
    }

    @Test
    void anUpstreamGetsCreditOnlyForWhatTheClientHasRoomFor() {
        StreamEvents events = get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        client.writable = false;
        opener.last().events.onData(bytes("abc"), false);
        assertThat(upstream().consumed).isZero();
        client.writable = true;
        events.onWritable();
        assertThat(upstream().consumed).isEqualTo(3);
        opener.last().events.onData(bytes("d"), true);
        assertThat(upstream().consumed).isEqualTo(4);
    }

    @Test
    void whatIsHeldForAClientThatTakesNothingIsCutWhenMemoryRunsLow() {
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        client.writable = false;
        opener.last().events.onData(bytes("abc"), false);
        assertThat(Stalled.ofThisLoop().cut(1, 1, 0)).isEqualTo(3);
        assertThat(record().cause).isEqualTo(Cause.OVERLOAD);
        assertThat(Stalled.ofThisLoop().cut(0, Long.MAX_VALUE, 0)).isZero();
    }

    @Test
    void whoHasRoomAgainIsNotCut() {
        StreamEvents events = get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        client.writable = false;
        opener.last().events.onData(bytes("abc"), false);
        client.writable = true;
        events.onWritable();
        assertThat(Stalled.ofThisLoop().cut(0, Long.MAX_VALUE, 0)).isZero();
        opener.last().events.onData(bytes("d"), true);
        assertThat(record().cause).isNull();
    }

    @Test
    void aCreditEndsWithItsStream() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        upstream().writable = false;
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS));
        opener.last().succeed();
        assertThat(opener.openings).hasSize(2);
        events.onData(bytes("abc"), true);
        assertThat(client.consumed).isEqualTo(3);
        opener.last().events.onHead(response(200), true);
        assertThat(record().attempts).isEqualTo(2);
    }

    @Test
    void aResponseThatEndsBeforeTheRequestIsDeliveredAndTheRestIsNotSent() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("a"), false);
        opener.last().events.onHead(response(413), false);
        opener.last().events.onData(bytes("no"), true);
        assertThat(client.body).hasToString("no");
        assertThat(client.reset).isNull();
        assertThat(upstream().reset).isNotNull();
        assertThat(record().cause).isNull();
        events.onData(bytes("late"), true);
        assertThat(upstream().body).hasToString("a");
    }

    @Test
    void aResponseMayBeginBeforeTheRequestEnds() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        opener.last().events.onData(bytes("x"), false);
        events.onData(bytes("a"), true);
        opener.last().events.onData(bytes("y"), true);
        assertThat(upstream().reset).isNull();
        assertThat(upstream().body).hasToString("a");
        assertThat(client.body).hasToString("xy");
    }

    // ---- refused at the door

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
    void aRequestThatNoRouteMatchesIsNotFound() {
        settings.router = head -> null;
        handler().onRequest(client, head("GET", "/"), true);
        assertAnswered(404, Cause.NO_ROUTE);
        assertThat(client.field("Proxy-Status")).isEqualTo("gateway;error=destination_not_found;details=\"no_route\"");
        assertThat(client.field("Content-Type")).isEqualTo("application/problem+json");
        assertThat(client.body)
                .hasToString(
                        "{\"type\":\"about:blank\",\"title\":\"Not Found\",\"status\":404,\"cause\":\"no_route\"}\n");
        assertThat(client.field("Content-Length")).isEqualTo(Integer.toString(client.body.length()));
    }

    @Test
    void whoAsksForTextGetsTheProblemAsText() {
        settings.router = head -> null;
        RequestHead head = head("GET", "/");
        head.fields().add(FieldName.ACCEPT, "Text/html, */*;q=0.8");
        handler().onRequest(client, head, true);
        assertThat(client.body).hasToString("404 Not Found\nno_route\n");
    }

    @Test
    void anAnswerToHeadHasNoBodyButItsLength() {
        settings.router = head -> null;
        handler().onRequest(client, head("HEAD", "/"), true);
        assertAnswered(404, Cause.NO_ROUTE);
        assertThat(client.body).isEmpty();
        assertThat(client.field("Content-Length")).isNotEqualTo("0");
    }

    @Test
    void connectIsNotAllowed() {
        route();
        connect("a.test:443");
        assertAnswered(405, Cause.NO_ROUTE);
        assertThat(client.field("Allow")).contains("GET");
    }

    @Test
    void aConnectWithoutAPortIsABadRequestWhetherTunnelsAreOfferedOrNot() {
        request("CONNECT", "", true);
        assertAnswered(400, Cause.CLIENT_PROTOCOL_ERROR);
    }

    @Test
    void traceIsNotAllowed() {
        request("TRACE", "/", true);
        assertAnswered(405, Cause.NO_ROUTE);
    }

    @Test
    void aPathThatClimbsOutOfTheRootIsABadRequest() {
        request("GET", "/../etc/passwd", true);
        assertAnswered(400, Cause.CLIENT_PROTOCOL_ERROR);
    }

    @Test
    void optionsThatMayGoNoFurtherAreAnsweredHere() {
        route();
        RequestHead head = head("OPTIONS", "/");
        head.fields().add(FieldName.of("Max-Forwards"), "0");
        handler().onRequest(client, head, true);
        assertThat(client.status()).isEqualTo(200);
        assertThat(client.field("Allow")).contains("OPTIONS");
        assertThat(record().cause).isNull();
        assertThat(opener.openings).isEmpty();
    }

    @Test
    void optionsThatMayGoFurtherAreCountedDown() {
        route();
        RequestHead head = head("OPTIONS", "/");
        head.fields().add(FieldName.of("Max-Forwards"), "2");
        handler().onRequest(client, head, true);
        opener.last().succeed();
        assertThat((CharSequence) upstream().head().fields().first(FieldName.of("Max-Forwards")))
                .hasToString("1");
        opener.last().events.onHead(response(204), true);
    }

    @Test
    void optionsForTheServerAsAWholeAreAnsweredHere() {
        request("OPTIONS", "*", true);
        assertThat(client.status()).isEqualTo(200);
        assertThat(record().cause).isNull();
    }

    @Test
    void aRequestThatIsNoneIsAnsweredAndRecorded() {
        handler().onRefused(client, null, Failure.of(Cause.CLIENT_PROTOCOL_ERROR, 431, "too many fields"));
        assertAnswered(431, Cause.CLIENT_PROTOCOL_ERROR);
    }

    @Test
    void aRequestThatIsRefusedEarlyHasAnIdAllTheSame() {
        settings.requestId = ExchangeSettings.RequestIdPolicy.GENERATE;
        handler().onRefused(client, null, Failure.of(Cause.CLIENT_PROTOCOL_ERROR, 431, "too many fields"));
        assertThat(client.body.toString()).contains("\"requestId\":\"" + record().requestId + '"');
        assertThat(String.valueOf(record().requestId)).matches("[0-9a-f]{32}");
    }

    @Test
    void aRequestWithoutARouteHasAnIdAllTheSame() {
        settings.requestId = ExchangeSettings.RequestIdPolicy.GENERATE;
        handler().onRequest(client, head("GET", "/nowhere"), true);
        assertAnswered(404, Cause.NO_ROUTE);
        assertThat(client.body.toString()).contains("\"requestId\":\"" + record().requestId + '"');
        assertThat(String.valueOf(record().requestId)).matches("[0-9a-f]{32}");
    }

    @ParameterizedTest
    @CsvSource({
        "application/grpc, HTTP_2, 200, 12",
        "application/grpc+proto, HTTP_2, 200, 12",
        "application/grpc-web, HTTP_2, 404, ",
        "application/grpc, HTTP_1_1, 404, ",
        "text/plain, HTTP_2, 404, "
    })
    void onlyACallOfGrpcIsAnsweredByItsStatus(String type, HttpVersion version, int status, @Nullable String grpc) {
        client.version = version;
        RequestHead head = head("POST", "/demo.Echo/Say");
        head.fields().add(FieldName.CONTENT_TYPE, type);
        handler().onRequest(client, head, true);
        assertThat(client.status()).isEqualTo(status);
        assertThat((CharSequence) client.heads.get(0).fields().first(FieldName.of("grpc-status")))
                .isEqualTo(grpc == null ? null : new AsciiString(grpc));
        assertThat(client.body.toString().isEmpty()).isEqualTo(grpc != null);
        assertThat(record().status).isEqualTo(404);
        assertThat(record().cause).isEqualTo(Cause.NO_ROUTE);
    }

    @ParameterizedTest
    @CsvSource({
        "CONNECT_FAILED, 502, 14",
        "CONNECT_TIMEOUT, 504, 14",
        "UPSTREAM_TIMEOUT, 504, 4",
        "AUTHZ_DENIED, 401, 16",
        "AUTHZ_DENIED, 403, 7",
        "RATE_LIMITED, 429, 8",
        "CLIENT_PROTOCOL_ERROR, 400, 13",
        "CLIENT_PROTOCOL_ERROR, 431, 8",
        "LOOP_DETECTED, 508, 2"
    })
    void callsAreToldTheStatusThatSaysTheSame(Cause cause, int status, String grpc) {
        ResponseHead head = GrpcStatus.failed(Failure.of(cause, status, "any"), new AsciiString("id-1"));
        assertThat((CharSequence) head.fields().first(FieldName.of("grpc-status")))
                .hasToString(grpc);
        assertThat((CharSequence) head.fields().first(FieldName.of("grpc-message")))
                .hasToString(cause.label() + ", request id-1");
    }

    @Test
    void aBodyThatIsAnnouncedTooLargeIsRefusedAtOnce() {
        settings.maxBody = 3;
        route();
        RequestHead head = new RequestHead(
                Method.POST, new AsciiString("http"), new AsciiString("h"), new AsciiString("/"), new Fields(), 4);
        handler().onRequest(client, head, false);
        assertAnswered(413, Cause.BODY_TOO_LARGE);
        assertThat(opener.openings).isEmpty();
    }

    @Test
    void aBodyThatGrowsTooLargeIsRefused() {
        settings.maxBody = 3;
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("abc"), false);
        events.onData(bytes("d"), false);
        assertAnswered(413, Cause.BODY_TOO_LARGE);
        assertThat(upstream().reset).isNotNull();
    }

    @Test
    void aBodyThatGrowsTooLargeWhileItIsHeldIsRefused() {
        settings.maxBody = 3;
        StreamEvents events = request("POST", "/", false);
        events.onData(bytes("abcd"), false);
        assertAnswered(413, Cause.BODY_TOO_LARGE);
        assertThat(opener.last().cancelled).isTrue();
    }

    @Test
    void withoutAnEndpointTheServiceIsUnavailable() {
        healthy = false;
        get();
        assertAnswered(503, Cause.NO_HEALTHY_ENDPOINT);
    }

    // ---- request ids

    @Test
    void aRequestWithoutAnIdGetsOne() {
        settings.requestId = ExchangeSettings.RequestIdPolicy.ACCEPT_OR_GENERATE;
        get();
        opener.last().succeed();
        AsciiString id = upstream().head().fields().first(FieldName.X_REQUEST_ID);
        assertThat(String.valueOf(id)).matches("[0-9a-f]{32}");
        opener.last().events.onHead(response(200), true);
        assertThat((CharSequence) record().requestId).isEqualTo(id);
    }

    @Test
    void anIdThatCouldConfuseLogsIsReplaced() {
        settings.trust = trust(OddNames.Policy.ALLOW);
        settings.requestId = ExchangeSettings.RequestIdPolicy.ACCEPT_OR_GENERATE;
        route();
        RequestHead head = head("GET", "/");
        head.fields().add(FieldName.X_REQUEST_ID, "a\"b");
        StreamEvents events = handler().onRequest(client, head, true);
        events.onReset(Failure.of(Cause.CLIENT_CLOSED, "gone"));
        assertThat(String.valueOf(record().requestId)).matches("[0-9a-f]{32}");
    }

    @Test
    void anIdThatATrustedProxySentIsKept() {
        settings.trust = trust(OddNames.Policy.ALLOW);
        settings.requestId = ExchangeSettings.RequestIdPolicy.ACCEPT_OR_GENERATE;
        route();
        RequestHead head = head("GET", "/");
        head.fields().add(FieldName.X_REQUEST_ID, "trace-1");
        handler().onRequest(client, head, true);
        opener.last().fail(failure(Cause.CONNECT_FAILED, RetrySafety.NEVER));
        assertThat((CharSequence) record().requestId).hasToString("trace-1");
        assertThat(client.body.toString()).contains("\"requestId\":\"trace-1\"");
    }

    // ---- attempts that fail

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
    void aRequestWhoseBodyIsOnItsWayIsSentAgainFromWhatIsKept() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("a"), false);
        events.onData(bytes("b"), false);
        assertThat(client.consumed).isEqualTo(2);
        for (int i = 0; i < 2; i++) {
            opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS));
            opener.last().succeed();
            assertThat(upstream().body).hasToString("ab");
            assertThat(upstream().ended).isFalse();
        }
        assertThat(client.consumed).isEqualTo(2);
        events.onData(bytes("c"), true);
        assertThat(upstream().body).hasToString("abc");
        assertThat(upstream().ended).isTrue();
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS));
        opener.last().succeed();
        assertThat(upstream().body).hasToString("abc");
        assertThat(upstream().ended).isTrue();
        assertThat(client.consumed).isEqualTo(3);
        opener.last().events.onHead(response(200), true);
        assertThat(record().status).isEqualTo(200);
    }

    @Test
    void whatComesBetweenTwoAttemptsFollowsWhatIsKept() {
        retry = new Route.Retry(1, Set.of(), 100);
        StreamEvents events = request("PUT", "/", false);
        opener.last().succeed();
        events.onData(bytes("a"), false);
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT));
        events.onData(bytes("b"), false);
        Fields trailers = new Fields();
        trailers.add(new AsciiString("x-t"), new AsciiString("1"));
        events.onTrailers(trailers);
        pass(150);
        opener.last().succeed();
        assertThat(upstream().body).hasToString("ab");
        assertThat(upstream().trailers).isNotNull();
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS));
        opener.last().succeed();
        assertThat(upstream().body).hasToString("ab");
        assertThat(upstream().trailers).isNotNull();
        opener.last().events.onHead(response(200), true);
    }

    @Test
    void whatTheUpstreamHasNotTakenStaysOwedAfterAnotherAttempt() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        upstream().writable = false;
        events.onData(bytes("abc"), false);
        assertThat(client.consumed).isZero();
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS));
        opener.last().succeed();
        assertThat(upstream().body).hasToString("abc");
        assertThat(client.consumed).isEqualTo(3);
        opener.last().events.onHead(response(200), true);
    }

    @Test
    void aBodyThatMayHaveBeenProcessedIsNotSentAgain() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("a"), true);
        opener.last().events.onReset(stale(RetrySafety.IF_IDEMPOTENT));
        assertAnswered(502, Cause.UPSTREAM_RESET_BEFORE_HEADERS);
    }

    @Test
    void aBodyThatIsTooLargeToBeKeptIsNotSentAgain() {
        StreamEvents events = request("POST", "/", false);
        opener.last().succeed();
        events.onData(bytes("a".repeat(SentBody.MOST + 1)), false);
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS));
        assertAnswered(502, Cause.UPSTREAM_RESET_BEFORE_HEADERS);
    }

    @Test
    void aBodyThatIsStillHeldGoesToTheNextEndpoint() {
        StreamEvents events = request("POST", "/", false);
        events.onData(bytes("abc"), true);
        opener.last().fail(failure(Cause.CONNECT_FAILED, RetrySafety.ALWAYS));
        assertThat(opener.last().endpoint).isEqualTo(SECOND);
        opener.last().succeed();
        assertThat(upstream().body).hasToString("abc");
        opener.last().events.onHead(response(200), true);
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
        balancer = new RoundRobin(endpoints);
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
        balancer = new RoundRobin(List.of(FIRST, SECOND, FIRST, third)); // as other requests may take their turns
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

    // ---- time

    @Test
    void aRequestThatTakesTooLongTimesOutWhileConnecting() {
        timeouts = new Route.Timeouts(100, 0, 0, Route.Tunnel.NONE);
        get();
        pass(150);
        assertAnswered(504, Cause.UPSTREAM_TIMEOUT);
        assertThat(opener.last().cancelled).isTrue();
    }

    @Test
    void aRequestThatTakesTooLongTimesOutInTheBody() {
        timeouts = new Route.Timeouts(100, 0, 0, Route.Tunnel.NONE);
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
        timeouts = new Route.Timeouts(0, 100, 0, Route.Tunnel.NONE);
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
        timeouts = new Route.Timeouts(0, 100, 0, Route.Tunnel.NONE);
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
    void anotherEndpointMayHaveRoomForTheRequest() {
        get();
        Endpoint asked = opener.last().endpoint.equals(FIRST) ? SECOND : FIRST;
        opener.last().callback.onMoved(asked);
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().endpoint).isEqualTo(asked);
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
        timeouts = new Route.Timeouts(400, 0, 300, Route.Tunnel.NONE);
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
        timeouts = new Route.Timeouts(0, 0, 70, Route.Tunnel.NONE);
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
        timeouts = new Route.Timeouts(0, 0, 100, Route.Tunnel.NONE);
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

    // ---- filters

    @Test
    void aFilterSeesTheCredentialsForThisGatewayAndTheUpstreamDoesNot() {
        List<String> seen = new ArrayList<>();
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                seen.add(String.valueOf(head.fields().first(FieldName.PROXY_AUTHORIZATION)));
                context.setIdentity(new Identity("ci", Set.of("builders")));
                return Verdict.PROCEED;
            }

            @Override
            public void onEnd(FilterContext context) {
                Identity identity = context.identity();
                seen.add("ended, " + (identity == null ? "nobody" : identity.name()));
            }
        });
        RequestHead head = head("GET", "/");
        head.fields().add(FieldName.PROXY_AUTHORIZATION, "Basic x");
        route();
        handler().onRequest(client, head, true);
        opener.last().succeed();
        assertThat(upstream().head().fields().contains(FieldName.PROXY_AUTHORIZATION))
                .isFalse();
        assertThat(seen).containsExactly("Basic x");
        opener.last().events.onHead(response(200), true);
        assertThat(seen).containsExactly("Basic x", "ended, ci");
        assertThat(record().identity).isEqualTo("ci");
    }

    @Test
    void onlyFiltersThatHaveProceededAreToldOfTheEnd() {
        List<String> ended = new ArrayList<>();
        filters.add(new Filter() {
            @Override
            public void onEnd(FilterContext context) {
                ended.add("first");
            }
        });
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                return new Verdict.Refuse(Failure.of(Cause.RATE_LIMITED, "too many"));
            }

            @Override
            public void onEnd(FilterContext context) {
                ended.add("second");
            }
        });
        get();
        assertAnswered(429, Cause.RATE_LIMITED);
        assertThat(ended).containsExactly("first");
    }

    private final class Recording implements Filter {
        private final String name;
        private final Verdict verdict;

        Recording(String name, Verdict verdict) {
            this.name = name;
            this.verdict = verdict;
        }

        @Override
        public Verdict onRequest(RequestHead head, FilterContext context) {
            head.fields().add(FieldName.of("x-seen"), name);
            contexts.add(context);
            return verdict;
        }

        @Override
        public void onResponse(ResponseHead head, FilterContext context) {
            head.fields().add(FieldName.of("x-seen"), name);
        }
    }

    private final List<FilterContext> contexts = new ArrayList<>();

    private static String seen(Fields fields) {
        StringBuilder seen = new StringBuilder();
        FieldName name = FieldName.of("x-seen");
        for (int i = fields.find(name, 0); i >= 0; i = fields.find(name, i + 1)) {
            seen.append(fields.value(i));
        }
        return seen.toString();
    }

    @Test
    void filtersSeeRequestsInOrderAndResponsesInReverse() {
        filters.add(new Recording("a", Verdict.PROCEED));
        filters.add(new Recording("b", Verdict.PROCEED));
        get();
        opener.last().succeed();
        assertThat(seen(upstream().head().fields())).isEqualTo("ab");
        opener.last().events.onHead(response(200), true);
        assertThat(seen(client.heads.get(0).fields())).isEqualTo("ba");
    }

    @Test
    void aFiltersReplyPassesThoseBeforeIt() {
        filters.add(new Recording("a", Verdict.PROCEED));
        filters.add(new Recording("b", new Verdict.Reply(response(302), bytes("moved"))));
        filters.add(new Recording("c", Verdict.PROCEED));
        get();
        assertThat(client.status()).isEqualTo(302);
        assertThat(client.body).hasToString("moved");
        assertThat(client.field("Content-Length")).isEqualTo("5");
        assertThat(seen(client.heads.get(0).fields())).isEqualTo("a");
        assertThat(record().cause).isNull();
        assertThat(record().sentBytes).isEqualTo(5);
    }

    @Test
    void aFiltersReplyToHeadHasNoBody() {
        filters.add(new Recording("a", new Verdict.Reply(response(200), bytes("hello"))));
        request("HEAD", "/", true);
        assertThat(client.body).isEmpty();
        assertThat(client.field("Content-Length")).isEqualTo("5");
    }

    @Test
    void aFilterThatRefusesSaysWhy() {
        filters.add(new Recording("a", new Verdict.Refuse(Failure.of(Cause.RATE_LIMITED, "too many"))));
        get();
        assertAnswered(429, Cause.RATE_LIMITED);
        assertThat(opener.openings).isEmpty();
    }

    @Test
    void aFilterMayAnswerLater() {
        List<String> cancelled = new ArrayList<>();
        filters.add(new Recording("a", new Verdict.Wait(() -> cancelled.add("a"))));
        filters.add(new Recording("b", Verdict.PROCEED));
        StreamEvents events = request("POST", "/", false);
        events.onData(bytes("held"), true);
        assertThat(client.consumed).isZero();
        assertThat(opener.openings).isEmpty();
        contexts.get(0).resume(Verdict.PROCEED);
        opener.last().succeed();
        assertThat(upstream().body).hasToString("held");
        opener.last().events.onHead(response(200), true);
        assertThat(seen(client.heads.get(0).fields())).isEqualTo("ba");
        assertThat(cancelled).isEmpty();
    }

    @Test
    void aFilterMayReplyLater() {
        filters.add(new Recording("a", new Verdict.Wait(() -> {})));
        get();
        contexts.get(0).resume(new Verdict.Reply(response(401), bytes("who?")));
        assertThat(client.status()).isEqualTo(401);
        assertThat(client.body).hasToString("who?");
    }

    @Test
    void aFilterMayResumeBeforeItSaysThatItWaits() {
        filters.add(new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                context.resume(Verdict.PROCEED);
                return new Verdict.Wait(() -> {});
            }
        });
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().status).isEqualTo(200);
    }

    @Test
    void aFilterThatIsWaitedForIsCancelledWhenTheClientLeaves() {
        List<String> cancelled = new ArrayList<>();
        filters.add(new Recording("a", new Verdict.Wait(() -> cancelled.add("a"))));
        StreamEvents events = request("POST", "/", false);
        events.onData(bytes("held"), false);
        events.onReset(GONE);
        assertThat(cancelled).containsExactly("a");
        contexts.get(0).resume(new Verdict.Reply(response(200), bytes("late")));
        assertThat(client.heads).isEmpty();
        assertThat(record().cause).isEqualTo(Cause.CLIENT_CLOSED);
    }

    @Test
    void aFilterThatThrowsWhenCancelledDoesNotKeepTheExchangeOpen() {
        filters.add(new Recording("a", new Verdict.Wait(() -> {
            throw new IllegalStateException("a defect");
        })));
        request("POST", "/", false).onReset(GONE);
        assertThat(record().cause).isEqualTo(Cause.CLIENT_CLOSED);
    }

    @Test
    void aFilterThatThrowsAtTheEndDoesNotKeepTheExchangeOpen() {
        List<String> ended = new ArrayList<>();
        filters.add(new Ending(() -> ended.add("a")));
        filters.add(new Ending(() -> {
            throw new IllegalStateException("a defect");
        }));
        get();
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().status).isEqualTo(200);
        assertThat(ended).containsExactly("a");
    }

    private record Ending(Runnable task) implements Filter {
        @Override
        public Verdict onRequest(RequestHead head, FilterContext context) {
            return Verdict.PROCEED;
        }

        @Override
        public void onEnd(FilterContext context) {
            task.run();
        }
    }

    @Test
    void aFilterThatIsWaitedForTooLongIsCancelled() {
        timeouts = new Route.Timeouts(100, 0, 0, Route.Tunnel.NONE);
        List<String> cancelled = new ArrayList<>();
        filters.add(new Recording("a", new Verdict.Wait(() -> cancelled.add("a"))));
        get();
        pass(150);
        assertThat(cancelled).containsExactly("a");
        assertThat(client.status()).isEqualTo(504);
    }

    @Test
    void anEmptyReplyEndsWithItsHead() {
        filters.add(new Recording("a", new Verdict.Reply(response(204), Unpooled.EMPTY_BUFFER)));
        get();
        assertThat(client.ended).isTrue();
        assertThat(client.field("Content-Length")).isNull();
    }

    // ---- defects

    private static Filter throwing(boolean onRequest) {
        return new Filter() {
            @Override
            public Verdict onRequest(RequestHead head, FilterContext context) {
                if (onRequest) {
                    throw new IllegalStateException("a defect");
                }
                return Verdict.PROCEED;
            }

            @Override
            public void onResponse(ResponseHead head, FilterContext context) {
                throw new IllegalStateException("a defect");
            }
        };
    }

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
    void aFilterThatThrowsFailsItsExchangeAlone() {
        filters.add(throwing(true));
        get();
        assertAnswered(500, Cause.UNKNOWN);
    }

    @Test
    void aFilterThatThrowsWhenResumedFailsItsExchangeAlone() {
        filters.add(new Recording("a", new Verdict.Wait(() -> {})));
        filters.add(throwing(true));
        get().onReadComplete();
        contexts.get(0).resume(Verdict.PROCEED);
        assertAnswered(500, Cause.UNKNOWN);
    }

    @Test
    void aFilterThatThrowsOnAReplyLeaksNothing() {
        filters.add(throwing(false));
        filters.add(new Recording("b", new Verdict.Reply(response(200), bytes("hello"))));
        get();
        assertAnswered(500, Cause.UNKNOWN);
    }

    @Test
    void aFilterThatThrowsOnAResponseFailsItsExchangeAlone() {
        filters.add(throwing(false));
        get().onReadComplete();
        opener.last().succeed();
        opener.last().events.onHead(response(200), false);
        assertThat(opener.last().stream.reset).isNotNull();
        opener.last().events.onData(bytes("late"), true);
        assertAnswered(500, Cause.UNKNOWN);
    }

    @Test
    void aBalancerThatThrowsOnAFurtherAttemptFailsItsExchangeAlone() {
        Upstream upstream = new Upstream(
                "app",
                endpoints,
                (head, previous) -> {
                    if (previous != null) {
                        throw new IllegalStateException("a defect");
                    }
                    return FIRST;
                },
                UpstreamSettings.builder()
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

    @Test
    void aReplyToHeadAnnouncesTheLengthThatGetWouldHave() {
        filters.add(new DirectResponse(200, List.of(), "hello".getBytes(StandardCharsets.UTF_8)));
        request("HEAD", "/", true);
        assertThat(client.field("Content-Length")).isEqualTo("5");
        assertThat(client.body).isEmpty();
        assertThat(client.ended).isTrue();
    }

    @Test
    void anIdThatAnybodyElseSentIsReplaced() {
        settings.requestId = ExchangeSettings.RequestIdPolicy.ACCEPT_OR_GENERATE;
        route();
        RequestHead head = head("GET", "/");
        head.fields().add(FieldName.X_REQUEST_ID, "trace-1");
        handler().onRequest(client, head, true);
        opener.last().fail(failure(Cause.CONNECT_FAILED, RetrySafety.NEVER));
        assertThat(String.valueOf(record().requestId)).matches("[0-9a-f]{32}");
    }

    @Test
    void ofTwoRequestIdsNoneIsBelieved() {
        settings.trust = trust(OddNames.Policy.ALLOW);
        settings.requestId = ExchangeSettings.RequestIdPolicy.ACCEPT_OR_GENERATE;
        route();
        RequestHead head = head("GET", "/");
        head.fields().add(FieldName.X_REQUEST_ID, "good");
        head.fields().add(FieldName.X_REQUEST_ID, "\"bad\"");
        handler().onRequest(client, head, true).onReadComplete();
        opener.last().succeed();
        Fields sent = opener.last().stream.head().fields();
        assertThat(sent.toString()).doesNotContain("\"bad\"", "good");
        assertThat(sent.contains(FieldName.X_REQUEST_ID)).isTrue();
        opener.last().events.onHead(response(204), true);
    }
}
