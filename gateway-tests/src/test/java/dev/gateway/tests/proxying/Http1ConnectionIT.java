package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How HTTP/1.1 connections of clients are kept, shared and ended (RFC 9112). */
@Tag("platform")
class Http1ConnectionIT {
    private static final CountDownLatch earlierOnesCame = new CountDownLatch(1);
    private static final int LARGE = 4 << 20;
    private static Origin origin;
    private static Rig rig;

    @BeforeAll
    static void start() throws Exception {
        origin = Origin.start()
                .on("/", Behaviors.text("root"))
                .on("/one", Behaviors.text("one"))
                .on("/two", Behaviors.text("two"))
                .on("/echo", Behaviors.echo())
                .on("/last", (stream, head) -> {
                    assertThat(earlierOnesCame.await(30, TimeUnit.SECONDS)).isTrue();
                    stream.send(Head.response(200, "content-length", "0"), true);
                })
                .on("/large", (stream, head) -> {
                    stream.send(Head.response(200, "content-length", String.valueOf(LARGE)), false);
                    stream.send("x".repeat(LARGE), true);
                })
                .on("/upload", (stream, head) -> stream.peer().awaitClosed())
                .on("/close-delimited", (stream, head) -> {
                    ((Http1Peer) stream.peer()).raw("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end");
                    stream.peer().close();
                })
                .on("/length", (stream, head) -> stream.send(Head.response(200, "content-length", "1000"), true))
                .on("/204", (stream, head) -> stream.send(Head.response(204), true))
                .on("/304", (stream, head) -> stream.send(Head.response(304, "etag", "\"1\""), true));
        rig = Rig.to(origin, Pairing.H1_TO_H1).clear("halfClose: allow").start();
    }

    @AfterAll
    static void stop() throws Exception {
        rig.close();
        origin.close();
    }

    @Test
    void manyRequestsUseOneConnection() throws Exception {
        try (Http1Peer client = Http1Peer.connect(rig.port())) {
            for (int i = 0; i < 100; i++) {
                client.raw("GET /one HTTP/1.1\r\nHost: a\r\n\r\n");
                expect(client, "GET", 200, "one");
            }
        }
    }

    @Test
    void pipelinedRequestsAreAnsweredInOrder() throws Exception {
        try (Http1Peer client = Http1Peer.connect(rig.port())) {
            String batch = "GET /one HTTP/1.1\r\nHost: a\r\n\r\n"
                    + "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
                    + "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
                    + "HEAD /length HTTP/1.1\r\nHost: a\r\n\r\n"
                    + "GET /two HTTP/1.1\r\nHost: a\r\n\r\n";
            client.raw(batch.repeat(20));
            for (int i = 0; i < 20; i++) {
                expect(client, "GET", 200, "one");
                expect(client, "POST", 200, "hello");
                expect(client, "POST", 200, "abc");
                expect(client, "HEAD", 200, "");
                expect(client, "GET", 200, "two");
            }
        }
    }

    /** Those that are complete leave, also while the next one keeps the client waiting. */
    @Test
    void pipelinedRequestsDoNotWaitForTheAnswersToLaterOnes() throws Exception {
        try (Http1Peer client = Http1Peer.connect(rig.port())) {
            String one = "GET /one HTTP/1.1\r\nHost: a\r\n\r\n";
            client.raw(one + one + "GET /last HTTP/1.1\r\nHost: a\r\n\r\n" + one);
            expect(client, "GET", 200, "one");
            expect(client, "GET", 200, "one");
            earlierOnesCame.countDown();
            expect(client, "GET", 200, "");
            expect(client, "GET", 200, "one");
        }
    }

    @Test
    void aRequestMayComeByteByByte() throws Exception {
        try (Http1Peer client = Http1Peer.connect(rig.port())) {
            String request =
                    "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nx-t: 1\r\n\r\n";
            for (int i = 0; i < request.length(); i++) {
                client.raw(request.substring(i, i + 1));
            }
            var response = client.response("POST");
            assertThat(response.receiveHead().status()).isEqualTo(200);
            assertThat(response.receiveBody()).isEqualTo("hello");
            assertThat(response.trailer("x-t")).containsExactly("1");
        }
    }

    @Test
    void aClientThatHasFinishedSendingStillGetsItsResponse() throws Exception {
        try (Http1Peer client = Http1Peer.connect(rig.port())) {
            client.raw("GET /one HTTP/1.1\r\nHost: a\r\n\r\nGET /two HTTP/1.1\r\nHost: a\r\n\r\n");
            client.halfClose();
            expect(client, "GET", 200, "one");
            expect(client, "GET", 200, "two");
            assertThat(client.isAtEnd()).isTrue();
        }
    }

    /** The rest never comes, so nothing of it waits at the upstream. Answers to requests before it leave whole. */
    @Test
    void anUploadThatIsCutBehindAnotherRequestEnds() throws Exception {
        try (Http1Peer client = Http1Peer.connect(rig.port())) {
            client.raw("GET /large HTTP/1.1\r\nHost: a\r\n\r\n"
                    + "POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc");
            client.halfClose();
            expect(client, "GET", 200, "x".repeat(LARGE));
            assertThat(client.isAtEnd()).isTrue();
            rig.awaitIdle();
        }
    }

    @Test
    void headHasTheLengthAndNoBody() throws Exception {
        try (Http1Peer client = Http1Peer.connect(rig.port())) {
            client.raw("HEAD /length HTTP/1.1\r\nHost: a\r\n\r\n");
            assertThat(expect(client, "HEAD", 200, "").get("content-length")).contains("1000");
            client.raw("GET /one HTTP/1.1\r\nHost: a\r\n\r\n");
            expect(client, "GET", 200, "one");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {204, 304})
    void statusesWithoutBodyHaveNone(int status) throws Exception {
        try (Http1Peer client = Http1Peer.connect(rig.port())) {
            client.raw("GET /" + status + " HTTP/1.1\r\nHost: a\r\n\r\n");
            Head head = expect(client, "GET", status, "");
            assertThat(head.get("transfer-encoding")).isEmpty();
            client.raw("GET /one HTTP/1.1\r\nHost: a\r\n\r\n");
            expect(client, "GET", 200, "one");
        }
    }

    @Test
    void anUpstreamsBodyWithoutLengthKeepsTheClientsConnection() throws Exception {
        try (Http1Peer client = Http1Peer.connect(rig.port())) {
            for (int i = 0; i < 2; i++) {
                client.raw("GET /close-delimited HTTP/1.1\r\nHost: a\r\n\r\n");
                Head head = expect(client, "GET", 200, "until the end");
                assertThat(head.get("transfer-encoding")).contains("chunked");
            }
        }
    }

    @Test
    void http10IsAnsweredAndClosed() throws Exception {
        try (Http1Peer client = Http1Peer.connect(rig.port())) {
            client.raw("GET /echo HTTP/1.0\r\n\r\n");
            String all = client.readToEnd();
            assertThat(all).contains(" 200 ").doesNotContainIgnoringCase("transfer-encoding");
        }
        try (Http1Peer client = Http1Peer.connect(rig.port())) {
            client.raw("GET /close-delimited HTTP/1.0\r\nHost: a\r\n\r\n");
            assertThat(client.readToEnd()).doesNotContainIgnoringCase("chunked").endsWith("until the end");
        }
    }

    @Test
    void http10MayAskToBeKept() throws Exception {
        try (Http1Peer client = Http1Peer.connect(rig.port())) {
            for (int i = 0; i < 2; i++) {
                client.raw("GET /one HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n");
                assertThat(expect(client, "GET", 200, "one").get("connection").orElse(""))
                        .isEqualToIgnoringCase("keep-alive");
            }
        }
    }

    @Test
    void whoAsksToCloseIsClosed() throws Exception {
        try (Http1Peer client = Http1Peer.connect(rig.port())) {
            client.raw("GET /one HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
            assertThat(expect(client, "GET", 200, "one").get("connection")).contains("close");
            assertThat(client.isAtEnd()).isTrue();
        }
    }

    @Test
    void absoluteTargetsAreAccepted() throws Exception {
        try (Http1Peer client = Http1Peer.connect(rig.port())) {
            client.raw("GET http://shop.test/one?q=1 HTTP/1.1\r\nHost: shop.test\r\n\r\n");
            expect(client, "GET", 200, "one");
            Head seen = origin.requests("/one").get(origin.requests("/one").size() - 1);
            assertThat(seen.target()).isEqualTo("/one?q=1");
            assertThat(seen.get("x-forwarded-host")).contains("shop.test");
        }
    }

    @Test
    void connectIsNotOfferedHere() throws Exception {
        try (Http1Peer client = Http1Peer.connect(rig.port())) {
            client.raw("CONNECT example.test:443 HTTP/1.1\r\nHost: example.test:443\r\n\r\n");
            assertThat(client.response("CONNECT").receiveHead().status()).isEqualTo(405);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H1", "H1_TO_H2"})
    void optionsForTheWholeServerAreAnswered(Pairing pairing) throws Exception {
        try (Origin asterisk = Origin.start().on("*", Behaviors.text("options"));
                Rig here = Rig.to(asterisk, pairing).start();
                Http1Peer client = Http1Peer.connect(here.port())) {
            client.raw("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
            // By the gateway itself or by the upstream: a proxy may do either (RFC 9110, section 9.3.7).
            assertThat(client.response("OPTIONS").receiveHead().status()).isIn(200, 204);
        }
    }

    private static Head expect(Http1Peer client, String method, int status, String body) throws IOException {
        var response = client.response(method);
        Head head = response.receiveHead();
        assertThat(head.status()).isEqualTo(status);
        assertThat(response.receiveBody()).isEqualTo(body);
        return head;
    }
}
