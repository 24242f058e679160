package dev.gateway.tests.attacks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.attacks.AttackTable.Attack;
import dev.gateway.tests.attacks.AttackTable.Field;
import dev.gateway.tests.attacks.AttackTable.Sender;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Http2Peer;
import dev.gateway.tests.peer.Http2Stream;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.StreamResetException;
import dev.gateway.tests.support.Rig;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Published attacks on proxies, byte by byte, on one gateway. Each gets the answer that the table says, no upstream gets
 * a request that it doesn't say, and a bystander on another connection gets its own answer afterwards.
 */
@Timeout(60)
class AttacksIT {
    /** A request as the upstream has got it, to its end. */
    private record Seen(Head head, String text, List<String> trailers, Peer connection) {}

    private static final List<Seen> seen = new CopyOnWriteArrayList<>();
    private static final AtomicInteger bystanders = new AtomicInteger();
    private static final AtomicReference<@Nullable Peer> early = new AtomicReference<>();
    private static volatile @Nullable String odd;
    private static Origin origin;
    private static ServerSocket plain;
    private static Rig rig;
    private static Http1Peer bystander;

    @BeforeAll
    static void start() throws Exception {
        origin = Origin.start()
                .on("/odd", (stream, head) -> {
                    stream.receiveBody();
                    ((Http1Peer) stream.peer()).raw(odd == null ? "" : odd);
                })
                .on("/auth", (stream, head) -> {
                    stream.receiveBody();
                    stream.send(Head.response(200, "content-length", "0"), true); // and no Remote-User
                })
                .on("/early", (stream, head) -> {
                    early.set(stream.peer());
                    stream.send(Head.response(200, "content-length", "2"), false);
                    stream.send("ok", true); // and what comes of the body is the next request
                })
                .on("/upgrade/101", (stream, head) -> {
                    Http1Peer peer = (Http1Peer) stream.peer();
                    peer.raw(
                            """
                            HTTP/1.1 101 Switching Protocols\r
                            Connection: Upgrade, X-Hop\r
                            Upgrade: foo\r
                            X-Hop: EVIL\r
                            Keep-Alive: timeout=5\r
                            Proxy-Authenticate: Basic\r
                            X-End: 1\r
                            \r
                            """);
                    peer.awaitClosed();
                })
                .otherwise(AttacksIT::answer);
        plain = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread injector = new Thread(AttacksIT::inject, "injector");
        injector.setDaemon(true);
        injector.start();
        rig = Rig.start(
                """
                workers: 1
                listeners:
                  - {name: web, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: egress, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: upgrading, address: 127.0.0.1, port: 0, protocol: HTTP, h2cUpgrade: true}
                  - name: behind
                    address: 127.0.0.1
                    port: 0
                    protocol: HTTP
                    h2cUpgrade: true
                    trustedProxies: [127.0.0.1/32]
                routes:
                  - parentRefs: [{name: web}]
                    hostnames: [admin.test]
                    rules:
                      - filters: [{type: DirectResponse, directResponse: {statusCode: 403, body: "no"}}]
                  - parentRefs: [{name: web}, {name: upgrading}, {name: behind}]
                    rules:
                      - matches: [{path: {type: PathPrefix, value: /admin}}]
                        filters: [{type: DirectResponse, directResponse: {statusCode: 403, body: "no"}}]
                      - matches:
                          - path: {type: PathPrefix, value: /roles}
                            headers: [{name: X-Role, type: RegularExpression, value: ".*admin.*"}]
                        filters: [{type: DirectResponse, directResponse: {statusCode: 403, body: "no"}}]
                      - matches: [{path: {type: PathPrefix, value: /private}}]
                        filters:
                          - type: ExternalAuth
                            externalAuth: {backendRef: {name: app}, allowedResponseHeaders: [Remote-User], path: /auth}
                        backendRefs: [{name: app}]
                      - matches: [{path: {type: PathPrefix, value: /strip}}]
                        filters:
                          - {type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /}}}
                        backendRefs: [{name: app}]
                      - matches: [{path: {type: PathPrefix, value: /upgrade}}]
                        upgrades: [websocket, foo]
                        backendRefs: [{name: app}]
                      - matches: [{path: {type: PathPrefix, value: /limited}}]
                        filters: [{type: BodyLimit, bodyLimit: {maxBytes: 1KiB}}]
                        backendRefs: [{name: app}]
                      - matches: [{path: {type: PathPrefix, value: /tls}}]
                        backendRefs: [{name: tls}]
                        retry: {attempts: 0}
                      - backendRefs: [{name: app}]
                        retry: {attempts: 0}
                upstreams:
                  - name: app
                    endpoints: [{host: 127.0.0.1, port: %d}]
                    healthChecks: {outlierDetection: {consecutive5xx: 1000}}
                  - name: tls
                    endpoints: [{host: 127.0.0.1, port: %d}]
                    tls: {}
                connect: [{parentRefs: [{name: egress}], allow: ["*"], allowedPorts: [443]}]
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: off}
                """
                        .formatted(origin.port(), plain.getLocalPort()));
        bystander = Http1Peer.connect(rig.port("web"));
    }

    @AfterAll
    static void stop() throws Exception {
        bystander.close();
        rig.close();
        origin.close();
        plain.close();
    }

    private static void answer(PeerStream stream, Head head) throws IOException {
        String body = stream.receiveBody();
        if (!head.path().equals("/bystander")) {
            List<String> trailers =
                    stream.trailers().stream().map(Map.Entry::getKey).toList();
            seen.add(new Seen(
                    head, (head.method() + " " + head.target() + " " + body).strip(), trailers, stream.peer()));
        }
        String text = "answer to " + head.target();
        boolean bodyless = head.method().equals("HEAD");
        stream.send(Head.response(200, "content-length", Integer.toString(text.length())), bodyless);
        if (!bodyless) {
            stream.send(text, true);
        }
    }

    /** Says a response before TLS begins, as somebody between gateway and upstream could. */
    private static void inject() {
        while (!plain.isClosed()) {
            try (Socket socket = plain.accept()) {
                socket.getOutputStream()
                        .write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL".getBytes(StandardCharsets.US_ASCII));
                socket.getInputStream().readAllBytes();
            } catch (IOException e) {
                // closed, or reset by the gateway
            }
        }
    }

    @BeforeEach
    void forget() {
        seen.clear();
        odd = null;
    }

    /** After each attack, another client of the same upstream gets the responses to its own requests. */
    @AfterEach
    void aBystanderIsServed() throws IOException {
        for (int i = 0; i < 2; i++) {
            String path = "/bystander?" + bystanders.incrementAndGet();
            var stream = bystander.open();
            stream.send(Head.request("GET", path), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo("answer to " + path);
        }
    }

    private static void assertSeen(Attack attack) {
        assertThat(seen.stream().map(Seen::text).filter(text -> !text.equals(attack.may())))
                .as("what the upstream got")
                .containsExactlyElementsOf(attack.sees());
        for (Field field : attack.seen()) {
            List<String> values = seen.get(seen.size() - 1).head().all(field.name());
            if (field.value().isEmpty()) {
                assertThat(values).as(field.name()).isEmpty();
            } else {
                assertThat(values).as(field.name()).containsExactly(field.value());
            }
        }
    }

    /** Whether a status is one of those named, such as 400 of "400|501". */
    private static void assertStatus(int status, String answer) {
        assertThat(answer.split(" ")[0].split("\\|")).contains(Integer.toString(status));
    }

    static Stream<Attack> byHttp1() throws IOException {
        return AttackTable.played(Sender.H1);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void byHttp1(Attack attack) throws Exception {
        try (Http1Peer client = Http1Peer.connect(rig.port(attack.listener()))) {
            client.raw(attack.sent());
            for (String answer : attack.answers()) {
                var response = client.response(answer.contains("HEAD") ? "HEAD" : "GET");
                assertStatus(response.receiveFinal().status(), answer);
                response.receiveBody();
                if (answer.contains("closed")) {
                    client.awaitClosed();
                }
            }
        }
        assertSeen(attack);
    }

    static Stream<Attack> byHttp2() throws IOException {
        return AttackTable.played(Sender.H2);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void byHttp2(Attack attack) throws Exception {
        try (Http2Peer client = Http2Peer.connect(rig.port(attack.listener()))) {
            Http2Stream stream = client.openRaw(attack.fields(), attack.sent().isEmpty());
            String answer = attack.answers().get(0);
            try {
                if (!attack.sent().isEmpty()) {
                    stream.send(attack.sent(), true);
                }
                Head head = stream.receiveFinal();
                stream.receiveBody();
                assertStatus(head.status(), answer);
            } catch (StreamResetException e) {
                assertThat(answer).contains("reset");
            }
        }
        assertSeen(attack);
    }

    static Stream<Attack> byAnUpstream() throws IOException {
        return AttackTable.played(Sender.UPSTREAM);
    }

    /** Asks for the odd response, and twice for another one on the same connection. */
    @ParameterizedTest(name = "{0}")
    @MethodSource
    void byAnUpstream(Attack attack) throws Exception {
        odd = attack.sent();
        try (Http1Peer client = Http1Peer.connect(rig.port("web"))) {
            List<String> got = new ArrayList<>();
            client.raw("GET /odd HTTP/1.1\r\nHost: a.test\r\n\r\n");
            boolean persists = receive(client, got);
            String[] expected = attack.answers().get(0).split(" ", 2);
            if (!expected[0].equals("cut")) {
                assertStatus(Integer.parseInt(got.get(0)), expected[0]);
            }
            if (expected.length > 1) {
                assertThat(got.get(1)).isEqualTo(expected[1]);
            }
            assertThat(String.join(" ", got)).doesNotContain("EVIL");
            for (int i = 0; i < 2 && persists; i++) {
                got.clear();
                client.raw("GET /next HTTP/1.1\r\nHost: a.test\r\n\r\n");
                persists = receive(client, got);
                assertThat(got).containsExactly("200", "answer to /next");
            }
        }
    }

    /** Adds status and body to a list; returns whether the connection goes on. */
    private static boolean receive(Http1Peer client, List<String> got) throws IOException {
        var response = client.response("GET");
        try {
            Head head = response.receiveFinal();
            got.add(Integer.toString(head.status()));
            got.add(response.receiveBody());
            return !head.all("connection").contains("close");
        } catch (EOFException | SocketException e) {
            return false;
        }
    }

    @Test
    void anUpstreamThatIsOwedABodyGetsNoOtherRequest() throws Exception {
        try (Http1Peer client = Http1Peer.connect(rig.port("web"))) {
            client.raw("POST /early HTTP/1.1\r\nHost: a.test\r\nContent-Length: 42\r\n\r\n");
            var response = client.response("POST");
            assertThat(response.receiveFinal().status()).isEqualTo(200);
            assertThat(response.receiveBody()).isEqualTo("ok");
            try (Http1Peer other = Http1Peer.connect(rig.port("web"))) {
                other.raw("GET /other HTTP/1.1\r\nHost: a.test\r\n\r\n");
                var next = other.response("GET");
                assertThat(next.receiveFinal().status()).isEqualTo(200);
                assertThat(next.receiveBody()).isEqualTo("answer to /other");
            }
            client.raw("GET /smuggled HTTP/1.1\r\nHost: a.test\r\n\r\nxy");
        }
        assertThat(seen).extracting(Seen::text).containsExactly("GET /other");
        assertThat(seen.get(0).connection()).isNotSameAs(early.get());
    }

    @Test
    void trailersBelongToOneRequest() throws Exception {
        try (Http2Peer client = Http2Peer.connect(rig.port("web"))) {
            for (boolean trailers : List.of(true, false)) {
                Http2Stream stream = client.open();
                stream.send(Head.request("POST", "/x", "te", "trailers"), false);
                stream.send("body", !trailers);
                if (trailers) {
                    stream.sendTrailers("x-secret", "of the first");
                }
                assertThat(stream.receiveFinal().status()).isEqualTo(200);
                stream.receiveBody();
            }
        }
        assertThat(seen).extracting(Seen::trailers).containsExactly(List.of("x-secret"), List.of());
    }

    @Test
    void fieldsOfOneConnectionDoNotPassWithA101() throws Exception {
        try (Http1Peer client = Http1Peer.connect(rig.port("web"))) {
            client.raw("GET /upgrade/101 HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n");
            Head head = client.response("GET").receiveHead();
            assertThat(head.status()).isEqualTo(101);
            assertThat(head.get("x-end")).hasValue("1");
            assertThat(head.get("x-hop")).isEmpty();
            assertThat(head.get("keep-alive")).isEmpty();
            assertThat(head.get("proxy-authenticate")).isEmpty();
        }
    }

    private static String failure(String fields) throws IOException {
        try (Http1Peer client = Http1Peer.connect(rig.port("web"))) {
            client.raw("GET /tls HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n" + fields + "\r\n");
            return client.readToEnd();
        }
    }

    @Test
    void whatComesBeforeTlsIsNoResponse() throws Exception {
        assertThat(failure("")).startsWith("HTTP/1.1 502 ").doesNotContain("EVIL");
    }

    @Test
    void anErrorShowsNoCredentials() throws Exception {
        assertThat(failure("Authorization: Bearer t0ken\r\nCookie: session=t0ken\r\nX-Api-Key: t0ken\r\n"))
                .startsWith("HTTP/1.1 502 ")
                .doesNotContain("t0ken");
    }

    /** Each byte of the later blocks refers to a field of 3,000. */
    @Test
    void aHostBesideAnAuthorityCounts() throws Exception {
        byte[] host = new byte[3_000];
        Arrays.fill(host, (byte) 'a');
        ByteArrayOutputStream first = new ByteArrayOutputStream();
        first.writeBytes(new byte[] {(byte) 0x82, (byte) 0x86, (byte) 0x84, 0x41, 6});
        first.writeBytes("a.test".getBytes(StandardCharsets.US_ASCII));
        first.writeBytes(new byte[] {0x66, 0x7f, (byte) 0xb9, 0x16}); // host, of 127 and 57 and 22 times 128 bytes
        first.writeBytes(host);
        byte[] later = new byte[10_000];
        Arrays.fill(later, (byte) 0xbe);
        System.arraycopy(new byte[] {(byte) 0x82, (byte) 0x86, (byte) 0x84, (byte) 0xbf}, 0, later, 0, 4);
        int flags = Http2Peer.END_STREAM | Http2Peer.END_HEADERS;
        try (Http2Peer client = Http2Peer.connect(rig.port("web"))) {
            try {
                client.frame(Http2Peer.HEADERS, flags, 1, first.toByteArray());
                for (int i = 1; i < 2_000; i++) {
                    client.frame(Http2Peer.HEADERS, flags, 2 * i + 1, later);
                }
            } catch (IOException e) {
                // The connection has ended, as it should.
            }
            client.awaitClosed();
        }
        assertThat(seen).isEmpty();
    }
}
