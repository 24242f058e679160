package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Handshake;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http2Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.WebSocket;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A server of its own decides who may use a route; it speaks the same protocol as the upstream. */
@Timeout(60)
class ExternalAuthIT {
    private static final String PAGE = "https://page.example";
    private static final String LOGIN = "https://login.example/?rd=here";

    /** Answers with the fields that name the client, and the body. */
    private static Origin app() throws IOException {
        return Origin.start(Handshake.ENABLE_CONNECT_PROTOCOL, 1)
                .on("/echo", WebSocket::echo)
                .otherwise((stream, head) -> {
                    String body = stream.receiveBody();
                    stream.send(Head.response(200, "set-cookie", "app=1"), false);
                    stream.send(
                            String.join(",", head.all("remote-user")) + "|"
                                    + String.join(",", head.all("remote-groups")) + "|" + body,
                            true);
                });
    }

    /** Knows one session, and sends who has none to its login. */
    private static Origin auth() throws IOException {
        return Origin.start().on("/auth", ExternalAuthIT::decide);
    }

    private static void decide(PeerStream stream, Head head) throws IOException {
        stream.receiveBody();
        if (head.all("cookie").contains("session=ann")) {
            stream.send(
                    Head.response(200, "remote-user", "ann", "remote-groups", "staff", "set-cookie", "session=new"),
                    false);
            stream.send("not for the client", true);
        } else if (head.get("authorization").isPresent()) {
            stream.send(Head.response(401, "www-authenticate", "Bearer realm=\"auth\"", "content-length", "0"), true);
        } else {
            stream.send(Head.response(302, "location", LOGIN, "set-cookie", "csrf=1; Path=/"), false);
            stream.send("log in first", true);
        }
    }

    private static void allow(PeerStream stream, Head head) throws IOException {
        stream.receiveBody();
        stream.send(Head.response(204), true);
    }

    private static String yaml(Origin app, Origin auth, Pairing pairing, String more) {
        return yaml(app.port(), auth.port(), pairing, more);
    }

    private static String yaml(int app, int auth, Pairing pairing, String more) {
        return """
                listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes:
                  - name: shop
                    rules:
                      - filters:
                          - {type: CORS, cors: {allowOrigins: ["%s"]}}
                          - type: ExternalAuth
                            externalAuth:
                              backendRef: {name: auth}
                              allowedResponseHeaders: [Remote-User, Remote-Groups]
                              identityHeader: Remote-User
                              %s
                        backendRefs: [{name: app}]
                upstreams:
                  - {name: app, endpoints: [{host: 127.0.0.1, port: %d}], protocol: %s}
                  - {name: auth, endpoints: [{host: 127.0.0.1, port: %d}], protocol: %s}
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {path: access.log}
                """
                .formatted(PAGE, more.replace("\n", "\n              "), app, pairing.upstream, auth, pairing.upstream);
    }

    private static PeerStream send(Peer client, String method, String path, String... fields) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request(method, path, fields), true);
        return stream;
    }

    /** Returns status and body. */
    private static String ask(Peer client, String... fields) throws IOException {
        PeerStream stream = send(client, "GET", "/", fields);
        int status = stream.receiveFinal().status();
        return status + " " + stream.receiveBody();
    }

    private static void assertError(Peer client, Rig rig, int count, int lines, String detail) throws Exception {
        PeerStream stream = send(client, "GET", "/");
        Head head = stream.receiveFinal();
        assertThat(head.status()).isEqualTo(503);
        assertThat(head.get("retry-after")).isPresent();
        assertThat(head.get("proxy-status"))
                .hasValueSatisfying(value -> assertThat(value).endsWith(";details=\"authz_error\""));
        stream.receiveBody();
        rig.awaitMetric(count, "gateway_external_auth_decisions_total", "route=\"shop\"", "decision=\"error\"");
        rig.awaitMetric(count, "gateway_downstream_requests_total", "cause=\"authz_error\"");
        assertThat(rig.awaitAccessLog(lines))
                .anySatisfy(line -> assertThat(line).contains("ExternalAuth: auth ", detail));
    }

    @ParameterizedTest
    @EnumSource
    void whoIsAllowedReachesTheUpstreamWithWhatTheServerSays(Pairing pairing) throws Exception {
        try (Origin app = app();
                Origin auth = auth();
                Rig rig = Rig.start(yaml(app, auth, pairing, "path: /auth"));
                Peer client = rig.connect(pairing.client)) {
            PeerStream stream = client.open();
            stream.send(
                    Head.request(
                            "POST",
                            "/a?b=c",
                            "cookie",
                            "session=ann",
                            "remote-user",
                            "forged",
                            "x-forwarded-uri",
                            "/public",
                            "x-forwarded-host",
                            "other.test",
                            "x-forwarded-for",
                            "198.51.100.1",
                            "x-secret",
                            "not for the server"),
                    false);
            stream.send("body", true);
            Head answer = stream.receiveFinal();
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.all("set-cookie")).containsExactlyInAnyOrder("app=1", "session=new");
            assertThat(stream.receiveBody()).isEqualTo("ann|staff|body");

            Head question = auth.requests("/auth").get(0);
            assertThat(question.method()).isEqualTo("GET");
            assertThat(question.get("host")).contains("127.0.0.1:" + auth.port());
            assertThat(question.get("content-length")).isEmpty();
            assertThat(question.all("x-forwarded-method")).containsExactly("POST");
            assertThat(question.all("x-forwarded-uri")).containsExactly("/a?b=c");
            assertThat(question.all("x-forwarded-host")).containsExactly("gateway.test");
            assertThat(question.all("x-forwarded-proto")).containsExactly("http");
            assertThat(question.all("x-forwarded-for")).containsExactly("127.0.0.1");
            assertThat(question.get("x-secret")).isEmpty();

            for (int i = 0; i < 9; i++) {
                assertThat(ask(client, "cookie", "session=ann")).isEqualTo("200 ann|staff|");
            }
            assertThat(auth.connections()).as("connections for ten questions").isEqualTo(1);
            assertThat(rig.awaitAccessLog(10))
                    .allSatisfy(line -> assertThat(line).contains("\"identity\":\"ann\"", "\"upstream\":\"app\""));
            rig.awaitMetric(10, "gateway_external_auth_decisions_total", "route=\"shop\"", "decision=\"allowed\"");
            rig.awaitMetric(10, "gateway_upstream_requests_total", "upstream=\"auth\"", "code_class=\"2xx\"");
            rig.awaitMetric(10, "gateway_upstream_requests_total", "upstream=\"app\"", "code_class=\"2xx\"");
        }
    }

    @CrossPairingTest
    void whoIsRefusedGetsTheAnswerOfTheServer(Pairing pairing) throws Exception {
        try (Origin app = app();
                Origin auth = auth();
                Rig rig = Rig.start(yaml(app, auth, pairing, "path: /auth"));
                Peer client = rig.connect(pairing.client)) {
            PeerStream preflight = send(client, "OPTIONS", "/", "origin", PAGE, "access-control-request-method", "PUT");
            assertThat(preflight.receiveFinal().status()).isEqualTo(204);
            preflight.receiveBody();
            assertThat(auth.requests("/auth"))
                    .as("questions about a preflight request")
                    .isEmpty();

            PeerStream stranger = send(client, "GET", "/", "origin", PAGE);
            Head login = stranger.receiveFinal();
            assertThat(login.status()).isEqualTo(302);
            assertThat(login.all("location")).containsExactly(LOGIN);
            assertThat(login.all("set-cookie")).containsExactly("csrf=1; Path=/");
            assertThat(login.all("cache-control")).containsExactly("no-store");
            assertThat(login.all("access-control-allow-origin")).containsExactly(PAGE); // a page may read it
            assertThat(login.get("proxy-status"))
                    .contains("gateway;error=http_request_denied;details=\"authz_denied\"");
            assertThat(stranger.receiveBody()).isEqualTo("log in first");

            PeerStream head = send(client, "HEAD", "/");
            assertThat(head.receiveFinal().status()).isEqualTo(302);
            assertThat(head.receiveBody()).isEmpty();

            PeerStream wrong = send(client, "GET", "/", "authorization", "Bearer wrong");
            Head challenge = wrong.receiveFinal();
            assertThat(challenge.status()).isEqualTo(401);
            assertThat(challenge.all("www-authenticate")).containsExactly("Bearer realm=\"auth\"");
            assertThat(wrong.receiveBody()).isEmpty();

            assertThat(app.connections()).isZero();
            rig.awaitMetric(3, "gateway_external_auth_decisions_total", "decision=\"denied\"");
            rig.awaitMetric(
                    2, "gateway_downstream_requests_total", "route=\"shop\"", "code=\"302\"", "cause=\"authz_denied\"");
            assertThat(rig.awaitAccessLog(4)).anySatisfy(line -> assertThat(line)
                    .contains("\"cause\":\"authz_denied\"", "ExternalAuth: auth answered 401"));
            assertThat(ask(client, "cookie", "session=ann")).isEqualTo("200 ann|staff|");
        }
    }

    @CrossPairingTest
    void aRequestBodyWaitsForTheDecision(Pairing pairing) throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch decide = new CountDownLatch(1);
        try (Origin app = app();
                Origin auth = auth();
                Rig rig = Rig.start(yaml(app, auth, pairing, "path: /slow"));
                Peer client = rig.connect(pairing.client)) {
            auth.on("/slow", (stream, head) -> {
                asked.countDown();
                decide.await();
                allow(stream, head);
            });
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "content-length", "8"), false);
            stream.send("half", false);
            asked.await();
            assertThat(app.connections()).isZero();
            decide.countDown();
            stream.send("more", true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo("||halfmore");
        }
    }

    @ParameterizedTest
    @EnumSource
    @SuppressWarnings("try") // the server is closed before the gateway
    void aServerThatFailsDecidesNothing(Pairing pairing) throws Exception {
        String settings = "path: /auth\nmaxResponseBytes: 1KiB";
        try (Origin app = app();
                Origin auth = auth();
                Rig rig = Rig.start(yaml(app, auth, pairing, settings));
                Peer client = rig.connect(pairing.client)) {
            assertThat(ask(client, "cookie", "session=ann")).isEqualTo("200 ann|staff|");

            auth.on("/auth", Behaviors.resetInBody());
            assertError(client, rig, 1, 2, "answered 200, but not all of it came: upstream_reset_in_body");

            auth.on("/auth", (stream, head) -> {
                stream.receiveBody();
                stream.send(Head.response(403, "content-length", "1000000"), false);
                stream.send(new byte[1_000_000], true);
            });
            assertError(client, rig, 2, 3, "answered 403 with more than 1024 bytes of body");

            auth.on("/auth", (stream, head) -> {
                stream.receiveBody();
                stream.send(Head.response(500), false);
                stream.send("a stack trace", true);
            });
            assertError(client, rig, 3, 4, "answered 500");

            auth.on("/auth", ExternalAuthIT::decide);
            assertThat(ask(client, "cookie", "session=ann")).isEqualTo("200 ann|staff|");
            assertThat(app.requests("/")).hasSize(2);

            auth.on("/auth", Behaviors.silence());
            rig.reload(yaml(app, auth, pairing, settings + "\ntimeout: 200ms"));
            assertError(client, rig, 4, 6, "did not answer: upstream_timeout: no whole answer in 200 ms");

            auth.close();
            rig.reload(yaml(app, auth, pairing, settings));
            assertError(client, rig, 5, 7, "did not answer: connect_failed");

            rig.reload(yaml(app, auth, pairing, "path: /auth\nonError: allow"));
            assertThat(ask(client, "cookie", "session=ann", "remote-user", "forged"))
                    .isEqualTo("200 ||");
            rig.awaitMetric(6, "gateway_external_auth_decisions_total", "decision=\"error\"");
            rig.awaitMetric(5, "gateway_downstream_requests_total", "cause=\"authz_error\"");
        }
    }

    /** Neither the client nor the upstream learns anything before the decision. */
    @CrossPairingTest
    void whoIsRefusedIsNotAskedForTheBody(Pairing pairing) throws Exception {
        try (Origin app = app();
                Origin auth = auth();
                Rig rig = Rig.start(yaml(app, auth, pairing, "path: /auth"));
                Peer client = rig.connect(pairing.client)) {
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "content-length", "4", "expect", "100-continue"), false);
            assertThat(stream.receiveHead().status()).isEqualTo(302);
            assertThat(auth.requests("/auth").get(0).get("expect")).isEmpty();
            assertThat(app.connections()).isZero();
        }
    }

    /** The server has said no, so nothing that happens to the rest of its answer lets the request continue. */
    @CrossPairingTest
    void aRefusalThatDoesNotArriveWholeIsNoConsent(Pairing pairing) throws Exception {
        String settings = "path: /auth\nmaxResponseBytes: 1KiB\nonError: allow";
        try (Origin app = app();
                Origin auth = Origin.start();
                Rig rig = Rig.start(yaml(app, auth, pairing, settings));
                Peer client = rig.connect(pairing.client)) {
            auth.on("/auth", (stream, head) -> {
                stream.receiveBody();
                stream.send(Head.response(302, "location", LOGIN), false);
                stream.send(new byte[10_000], true);
            });
            assertError(client, rig, 1, 1, "answered 302 with more than 1024 bytes of body");

            auth.on("/auth", (stream, head) -> {
                stream.receiveBody();
                stream.send(Head.response(403, "content-length", "1000"), false);
                stream.send("half", false);
                if (stream.peer() instanceof Http2Peer) {
                    stream.reset();
                } else {
                    stream.peer().close(); // a TCP reset could overtake the head
                }
            });
            assertError(client, rig, 2, 2, "answered 403, but not all of it came: upstream_reset_in_body");

            auth.on("/auth", (stream, head) -> {
                stream.receiveBody();
                stream.send(Head.response(401, "content-length", "1000"), false);
            });
            rig.reload(yaml(app, auth, pairing, settings + "\ntimeout: 200ms"));
            assertError(client, rig, 3, 3, "answered 401, but not all of it came: upstream_timeout");
            assertThat(app.connections()).isZero();
        }
    }

    /** The gateway may send the next question before it sees that. */
    @CrossPairingTest
    void theServerMayCloseConnectionsBetweenQuestions(Pairing pairing) throws Exception {
        try (Origin app = app();
                Origin auth = auth();
                Rig rig = Rig.start(yaml(app, auth, pairing, "path: /auth"));
                Peer client = rig.connect(pairing.client)) {
            for (int i = 0; i < 20; i++) {
                assertThat(ask(client, "cookie", "session=ann")).isEqualTo("200 ann|staff|");
                Peer last = auth.peers().get(auth.peers().size() - 1);
                if (i % 2 == 0) {
                    last.close();
                } else {
                    last.abort();
                }
            }
            rig.awaitMetric(0, "gateway_external_auth_decisions_total", "decision=\"error\"");
        }
    }

    @CrossPairingTest
    void aClientThatLeavesIsNotDecidedAbout(Pairing pairing) throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch givenUp = new CountDownLatch(1);
        try (Origin app = app();
                Origin auth = Origin.start().on("/auth", (stream, head) -> {
                    asked.countDown();
                    if (stream.peer() instanceof Http2Peer http2) {
                        http2.awaitFrame(Http2Peer.RST_STREAM, 1);
                    } else {
                        stream.peer().awaitClosed();
                    }
                    givenUp.countDown();
                });
                Rig rig = Rig.start(yaml(app, auth, pairing, "path: /auth\ntimeout: 1h"));
                Peer client = rig.connect(pairing.client)) {
            send(client, "GET", "/");
            asked.await();
            client.abort();
            givenUp.await();
            rig.awaitIdle();
            assertThat(rig.awaitAccessLog(1).get(0)).contains("\"status\":499", "\"cause\":\"client_closed\"");
            assertThat(app.connections()).isZero();
            rig.awaitMetric(0, "gateway_external_auth_decisions_total");
        }
    }

    /** What has begun is decided about as it began, also if the next configuration has no such server. */
    @CrossPairingTest
    void aReloadLeavesQuestionsAlone(Pairing pairing) throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch decide = new CountDownLatch(1);
        try (Origin app = app();
                Origin auth = Origin.start().on("/auth", (stream, head) -> {
                    asked.countDown();
                    decide.await();
                    decide(stream, head);
                });
                Rig rig = Rig.start(yaml(app, auth, pairing, "path: /auth"));
                Peer client = rig.connect(pairing.client);
                Peer other = rig.connect(pairing.client)) {
            PeerStream waiting = send(client, "GET", "/", "cookie", "session=ann");
            asked.await();
            rig.reload(
                    """
                    listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                    routes: [{name: shop, rules: [{backendRefs: [{name: app}]}]}]
                    upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}], protocol: %s}]
                    admin: {address: 127.0.0.1, port: 0}
                    accessLog: {path: access.log}
                    """
                            .formatted(app.port(), pairing.upstream));
            assertThat(ask(other, "remote-user", "anybody")).isEqualTo("200 anybody||");
            decide.countDown();
            assertThat(waiting.receiveFinal().status()).isEqualTo(200);
            assertThat(waiting.receiveBody()).isEqualTo("ann|staff|");
            rig.awaitMetric(0, "gateway_config_generations_draining");
        }
    }

    @CrossPairingTest
    void aWebSocketIsDecidedAbout(Pairing pairing) throws Exception {
        try (Origin app = app();
                Origin auth = auth();
                Rig rig = Rig.start(yaml(app, auth, pairing, "path: /auth"));
                Peer client = rig.connect(pairing.client)) {
            assertThat(ask(client, "cookie", "session=ann")).isEqualTo("200 ann|staff|");
            PeerStream stranger = client.open();
            assertThat(Handshake.ask(stranger, "/echo").status()).isEqualTo(302);
            assertThat(stranger.receiveBody()).isEqualTo("log in first");
            assertThat(app.requests("/echo")).isEmpty();

            WebSocket socket = new WebSocket(Handshake.open(client, "/echo", "cookie", "session=ann"), true);
            socket.text("hello");
            assertThat(socket.receive().text()).isEqualTo("hello");
            socket.close(1000);
            socket.receive();
            socket.end();
            assertThat(app.requests("/echo").get(0).all("remote-user")).containsExactly("ann");
            assertThat(auth.requests("/auth")).allSatisfy(question -> {
                assertThat(question.method()).isEqualTo("GET");
                assertThat(question.all("x-forwarded-method")).containsExactly("GET");
                assertThat(question.get(":protocol")).isEmpty();
                assertThat(question.get("upgrade")).isEmpty();
            });
        }
    }

    /** As Envoy asks by HTTP. */
    @CrossPairingTest
    void belowAPrefixTheServerGetsTheRequestWithoutItsBody(Pairing pairing) throws Exception {
        try (Origin app = app();
                Origin auth = Origin.start().on("/check/a", ExternalAuthIT::allow);
                Rig rig = Rig.start(yaml(app, auth, pairing, "pathPrefix: /check/\nallowedHeaders: [X-Key]"));
                Peer client = rig.connect(pairing.client)) {
            PeerStream stream = client.open();
            stream.send(Head.request("PUT", "/a?b=c", "x-key", "k", "cookie", "c=1", "content-length", "4"), false);
            stream.send("body", true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo("||body");
            Head question = auth.requests("/check/a").get(0);
            assertThat(question.method()).isEqualTo("PUT");
            assertThat(question.target()).isEqualTo("/check/a?b=c");
            assertThat(question.get("host")).contains("gateway.test");
            assertThat(question.get("content-length").orElse("0")).isEqualTo("0");
            assertThat(question.all("x-key")).containsExactly("k");
            assertThat(question.get("cookie")).isEmpty();
        }
    }

    /** Limits of the server's upstream hold for questions as for requests. */
    @ParameterizedTest
    @CsvSource({"http1", "h2c"})
    void moreQuestionsThanTheServerTakesAreNotAsked(String protocol) throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch decide = new CountDownLatch(1);
        Pairing pairing = protocol.equals("h2c") ? Pairing.H1_TO_H2 : Pairing.H1_TO_H1;
        try (Origin app = app();
                Origin auth = Origin.start().on("/auth", (stream, head) -> {
                    asked.countDown();
                    decide.await();
                    decide(stream, head);
                });
                Rig rig = Rig.start(yaml(app, auth, pairing, "path: /auth")
                        .replace(
                                "{name: auth, endpoints", "{name: auth, circuitBreaker: {maxRequests: 1}, endpoints"));
                Peer client = rig.connect(pairing.client);
                Peer other = rig.connect(pairing.client)) {
            PeerStream waiting = send(client, "GET", "/", "cookie", "session=ann");
            asked.await();
            assertError(other, rig, 1, 1, "did not answer: pending_overflow");
            decide.countDown();
            assertThat(waiting.receiveFinal().status()).isEqualTo(200);
            waiting.receiveBody();
        }
    }

    /** Each question would make another one. */
    @Test
    void aRouteThatAsksItselfIsALoop() throws Exception {
        try (Origin app = app();
                Rig rig = Rig.start(
                        """
                        listeners:
                          - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                          - {name: local, unix: loop.sock, protocol: HTTP}
                        routes:
                          - name: shop
                            rules:
                              - filters: [{type: ExternalAuth, externalAuth: {backendRef: {name: self}, path: /}}]
                                backendRefs: [{name: app}]
                        upstreams:
                          - {name: app, endpoints: [{host: 127.0.0.1, port: %d}]}
                          - {name: self, endpoints: [{unix: loop.sock}]}
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {path: access.log}
                        """
                                .formatted(app.port()));
                Peer client = rig.connect(Pairing.H1_TO_H1)) {
            assertThat(ask(client)).startsWith("503 ");
            List<String> log = rig.awaitAccessLog(2);
            assertThat(log).hasSize(2);
            assertThat(log)
                    .anySatisfy(line -> assertThat(line).contains("\"cause\":\"loop_detected\""))
                    .anySatisfy(line -> assertThat(line).contains("\"cause\":\"authz_error\"", "answered 508"));
            assertThat(app.connections()).isZero();
        }
    }
}
