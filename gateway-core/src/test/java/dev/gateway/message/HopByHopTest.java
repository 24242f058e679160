package dev.gateway.message;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HopByHopTest {
    private static String request(String... lines) {
        Fields fields = Heads.fields(lines);
        HopByHop.stripRequest(fields);
        return fields.toString();
    }

    private static String response(String... lines) {
        Fields fields = Heads.fields(lines);
        HopByHop.stripResponse(200, fields);
        return fields.toString();
    }

    @Test
    void only426SaysWhatToUpgradeTo() {
        for (int status : new int[] {103, 200, 400, 426, 501}) {
            Fields fields = Heads.fields("Upgrade: TLS/1.2", "Connection: upgrade, x-own", "X-Own: 1", "Vary: b");
            HopByHop.stripResponse(status, fields);
            assertThat(fields.toString()).isEqualTo(status == 426 ? "Upgrade: TLS/1.2\nVary: b\n" : "Vary: b\n");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Connection: keep-alive",
                "Keep-Alive: timeout=5",
                "Proxy-Connection: keep-alive",
                "Transfer-Encoding: chunked",
                "TE: gzip",
                "Upgrade: websocket",
                "HTTP2-Settings: AAMAAABkAAQAAP__"
            })
    void whatConcernsOneConnectionIsNotForwardedInEitherDirection(String line) {
        assertThat(request("Host: a", line, "Accept: */*")).isEqualTo("Host: a\nAccept: */*\n");
        assertThat(response("ETag: a", line, "Vary: b")).isEqualTo("ETag: a\nVary: b\n");
    }

    @Test
    void whatConnectionNamesIsNotForwarded() {
        assertThat(request(
                        "X-Keep: 1",
                        "X-One: 1",
                        "Connection: close, x-one ,X-TWO",
                        "x-two: 2",
                        "x-two: 3",
                        "connection: ,,accept;weird, Cookie",
                        "Accept: */*",
                        "Cookie: c",
                        "X-Last: 1"))
                .isEqualTo("X-Keep: 1\nX-Last: 1\n");
        assertThat(response("Connection: X-Internal", "X-Internal: 1", "X-Internal-2: 1"))
                .isEqualTo("X-Internal-2: 1\n");
    }

    @Test
    void severalConnectionLinesAreAllObeyed() {
        assertThat(request("A: 1", "Connection: A", "B: 2", "Connection: B", "C: 3", "Connection: C", "D: 4"))
                .isEqualTo("D: 4\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Host",
                "Content-Length",
                "X-Forwarded-For",
                "X-Forwarded-Proto",
                "X-Forwarded-Host",
                "Forwarded",
                "Via"
            })
    void aClientCannotHaveRemovedWhatFramesOrRoutesTheMessageOrTellsItsOrigin(String name) {
        assertThat(request("Connection: close, " + name, name + ": 1")).isEqualTo(name + ": 1\n");
    }

    /** The gateway adds none of its own. */
    @Test
    void theViaOfAnUpstreamStays() {
        assertThat(response("Via: 1.1 cache", "Connection: Via", "Vary: b")).isEqualTo("Via: 1.1 cache\nVary: b\n");
    }

    @Test
    void onlyTheTrailersElementOfTeIsForwarded() {
        assertThat(request("TE: deflate;q=0.5, Trailers", "Connection: TE")).isEqualTo("TE: trailers\n");
        assertThat(request("TE: trailers")).isEqualTo("TE: trailers\n");
        assertThat(request("TE: trailers-not")).isEmpty();
        assertThat(response("TE: trailers")).isEmpty();
    }

    @Test
    void credentialsForThisGatewayGoNoFurther() {
        Fields fields = Heads.fields("Proxy-Authorization: Basic x", "Authorization: Basic y");
        HopByHop.stripCredentials(fields);
        assertThat(fields.toString()).isEqualTo("Authorization: Basic y\n");
        assertThat(response("Proxy-Authenticate: Basic", "Proxy-Authentication-Info: x", "WWW-Authenticate: Basic"))
                .isEqualTo("WWW-Authenticate: Basic\n");
    }

    @Test
    void trailersCannotFrameRouteOrAuthenticate() {
        Fields trailers = Heads.fields(
                "grpc-status: 0",
                "Content-Length: 3",
                "Transfer-Encoding: chunked",
                "Host: evil",
                "Authorization: x",
                "Set-Cookie: a=b",
                "Trailer: x",
                "X-Forwarded-For: 10.0.0.1",
                "Pragma: x",
                "Content-Type: x",
                "Server-Timing: db;dur=5");
        HopByHop.stripTrailers(trailers);

        assertThat(trailers).hasToString("grpc-status: 0\nServer-Timing: db;dur=5\n");
    }
}
