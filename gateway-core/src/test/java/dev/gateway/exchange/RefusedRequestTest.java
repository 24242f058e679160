package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.exchange.reply.GrpcStatus;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.StreamEvents;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests that go no further: what is checked before there is an upstream, and how the client is told. */
class RefusedRequestTest extends ExchangeRig {
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
}
