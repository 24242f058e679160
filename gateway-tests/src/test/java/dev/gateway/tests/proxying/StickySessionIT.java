package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.tests.peer.Handshake;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.peer.WebSocket;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A client stays at the endpoint that answered it first, over all pairs of protocols. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class StickySessionIT {
    private static final String KEY = "0123456789abcdef0123456789abcdef";
    private static final String NEXT_KEY = "fedcba9876543210fedcba9876543210";
    private static final int REQUESTS = 20;

    @TempDir
    Path directory;

    /** What a client got: the endpoint that answered, the cookie it was told to keep, and those the endpoint saw. */
    private record Answer(String by, String setCookie, String seen) {
        String cookie() {
            return setCookie.replaceAll(";.*", "");
        }
    }

    private static Origin origin(String name) throws IOException {
        return Origin.start(Handshake.ENABLE_CONNECT_PROTOCOL, 1)
                .on("/", (stream, head) -> {
                    stream.receiveBody();
                    String seen = head.get("cookie").orElse("none");
                    stream.send(Head.response(200, "x-origin", name, "x-cookie", seen, "content-length", "0"), true);
                })
                .on("/socket", (stream, head) -> {
                    Handshake.accept(stream, head, "x-origin", name);
                    WebSocket socket = new WebSocket(stream, false);
                    socket.receive(); // a Close frame
                    socket.close(1000);
                    socket.end();
                });
    }

    private String yaml(Pairing pairing, List<Origin> origins) {
        List<String> endpoints = new ArrayList<>();
        origins.forEach(origin -> endpoints.add("{host: 127.0.0.1, port: " + origin.port() + "}"));
        return """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true}}
                routes:
                  - {name: all, rules: [{backendRefs: [{name: app}]}]}
                upstreams:
                  - name: app
                    protocol: %s
                    loadBalancer: RoundRobin
                    endpoints: %s
                    sessionPersistence: {sessionName: sid, absoluteTimeout: 1h, keyFile: %s}
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: "off"}
                """
                .formatted(pairing.upstream, endpoints, directory.resolve("keys"));
    }

    private void keys(String... keys) throws IOException {
        Files.write(directory.resolve("keys"), List.of(keys));
    }

    private static Answer ask(Peer client, String cookie) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/", "host", "a.test", "cookie", cookie), true);
        Head head = stream.receiveFinal();
        assertThat(head.status()).isEqualTo(200);
        stream.receiveBody();
        return new Answer(
                head.get("x-origin").orElse(""),
                head.get("set-cookie").orElse(""),
                head.get("x-cookie").orElse(""));
    }

    @ParameterizedTest
    @EnumSource
    void eachClientStaysAtOneEndpoint(Pairing pairing) throws Exception {
        keys(KEY);
        try (Origin one = origin("one");
                Origin two = origin("two");
                Origin three = origin("three");
                Rig rig = Rig.start(yaml(pairing, List.of(one, two, three)));
                Rig replica = Rig.start(yaml(pairing, List.of(three, two, one)));
                Peer client = rig.connect(pairing);
                Peer elsewhere = replica.connect(pairing)) {
            Map<String, String> sessions = new TreeMap<>();
            for (int i = 0; i < 3; i++) {
                Answer first = ask(client, "lang=en");
                assertThat(first.setCookie()).endsWith("; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax");
                assertThat(first.setCookie()).doesNotContain("127.0.0.1", "" + one.port());
                sessions.put(first.by(), first.cookie());
            }
            assertThat(sessions).hasSize(3);
            for (int i = 0; i < REQUESTS; i++) {
                for (Map.Entry<String, String> session : sessions.entrySet()) {
                    Answer same = ask(client, "lang=en; " + session.getValue() + "; x=y");
                    assertThat(same).isEqualTo(new Answer(session.getKey(), "", "lang=en; x=y"));
                }
            }
            for (Map.Entry<String, String> session : sessions.entrySet()) {
                assertThat(ask(elsewhere, session.getValue()))
                        .as("at a replica")
                        .isEqualTo(new Answer(session.getKey(), "", "none"));
            }
            assertThat(rig.admin("/upstreams")).contains("\"sessionName\": \"sid\"");
        }
    }

    @CrossPairingTest
    void aResponseThatAFilterMakesPublicGetsNoCookie(Pairing pairing) throws Exception {
        keys(KEY);
        String edits = "filters: [{type: ResponseHeaderModifier, responseHeaderModifier: "
                + "{set: [{name: Cache-Control, value: 'public, max-age=60'}], remove: [Set-Cookie]}}], ";
        try (Origin one = origin("one")) {
            String yaml = yaml(pairing, List.of(one));
            try (Rig rig = Rig.start(yaml.replace("rules: [{", "rules: [{" + edits));
                    Peer client = rig.connect(pairing)) {
                assertThat(ask(client, "lang=en").setCookie()).isEmpty();
                rig.reload(Files.readString(rig.file()).replace("public, max-age", "private, max-age"));
                assertThat(ask(client, "lang=en").setCookie()).startsWith("sid=");
            }
        }
    }

    @CrossPairingTest
    void theSessionMovesWhenItsEndpointGoesAndStaysThere(Pairing pairing) throws Exception {
        keys(KEY);
        try (Origin one = origin("one");
                Origin two = origin("two");
                Rig rig = Rig.start(yaml(pairing, List.of(one, two)));
                Peer client = rig.connect(pairing)) {
            Answer first = ask(client, "a=b");
            Origin left = first.by().equals("one") ? two : one;
            rig.reload(yaml(pairing, List.of(left)));
            Answer moved = ask(client, first.cookie());
            assertThat(moved.by()).isNotEqualTo(first.by());
            assertThat(moved.cookie()).startsWith("sid=").isNotEqualTo(first.cookie());
            rig.reload(yaml(pairing, List.of(one, two)));
            for (int i = 0; i < REQUESTS; i++) {
                assertThat(ask(client, moved.cookie())).isEqualTo(new Answer(moved.by(), "", "none"));
            }
            rig.awaitMetric(1, "gateway_upstream_sessions_total", "upstream=\"app\"", "result=\"begun\"");
            rig.awaitMetric(1, "gateway_upstream_sessions_total", "upstream=\"app\"", "result=\"moved\"");
            rig.awaitMetric(REQUESTS, "gateway_upstream_sessions_total", "upstream=\"app\"", "result=\"kept\"");
        }
    }

    @CrossPairingTest
    void anEndpointThatDrainsKeepsItsSessionsAndGetsNoNewOnes(Pairing pairing) throws Exception {
        keys(KEY);
        try (Origin one = origin("one");
                Origin two = origin("two");
                Rig rig = Rig.start(yaml(pairing, List.of(one, two)));
                Peer client = rig.connect(pairing)) {
            Answer first = ask(client, "a=b");
            String other = first.by().equals("one") ? "two" : "one";
            int port = first.by().equals("one") ? one.port() : two.port();
            String drain = "/endpoints/app/127.0.0.1:" + port + ":drain";
            assertThat(rig.post(drain).body()).endsWith(" gets no new requests but those of its sessions, for 1h\n");
            try (Peer late = rig.connect(pairing)) { // on an event loop that may not have asked that endpoint yet
                for (int i = 0; i < REQUESTS; i++) {
                    assertThat(ask(late, first.cookie())).isEqualTo(new Answer(first.by(), "", "none"));
                    assertThat(ask(client, "a=b").by()).isEqualTo(other);
                }
            }
            assertThat(rig.admin("/upstreams")).contains("\"draining\"");
            rig.post(drain + "?sessions=0s");
            assertThat(ask(client, first.cookie()).by()).isEqualTo(other);
        }
    }

    /** Nobody knows when the last of them ends. */
    @Test
    void sessionsWithoutATimeHaveADayDuringADrain() throws Exception {
        keys(KEY);
        try (Origin one = origin("one");
                Origin two = origin("two");
                Rig rig = Rig.start(yaml(Pairing.H1_TO_H1, List.of(one, two)).replace(", absoluteTimeout: 1h", ""));
                Peer client = rig.connect(Pairing.H1_TO_H1)) {
            Answer first = ask(client, "a=b");
            int port = first.by().equals("one") ? one.port() : two.port();
            assertThat(rig.post("/endpoints/app/127.0.0.1:" + port + ":drain").body())
                    .endsWith(" gets no new requests but those of its sessions, for 24h\n");
            assertThat(ask(client, first.cookie()).by()).isEqualTo(first.by());
        }
    }

    @Test
    void theTimeThatASessionHasDuringADrainEnds() throws Exception {
        keys(KEY);
        try (Origin one = origin("one");
                Origin two = origin("two");
                Rig rig = Rig.start(yaml(Pairing.H1_TO_H1, List.of(one, two)));
                Peer client = rig.connect(Pairing.H1_TO_H1)) {
            Answer first = ask(client, "a=b");
            int port = first.by().equals("one") ? one.port() : two.port();
            rig.post("/endpoints/app/127.0.0.1:" + port + ":drain?sessions=100ms");
            Answer moved = awaitNewCookie(client, first.cookie());
            assertThat(moved.by()).isNotEqualTo(first.by());
        }
    }

    @CrossPairingTest
    void aSessionStaysAtItsUpstreamAlsoWithoutAWeight(Pairing pairing) throws Exception {
        keys(KEY);
        try (Origin one = origin("one");
                Origin two = origin("two");
                Rig rig = Rig.start(twoUpstreams(pairing, one, two, 1, 0));
                Peer client = rig.connect(pairing)) {
            Answer first = ask(client, "a=b");
            assertThat(first.by()).isEqualTo("one");
            rig.reload(twoUpstreams(pairing, one, two, 0, 1));
            for (int i = 0; i < REQUESTS; i++) {
                assertThat(ask(client, first.cookie())).isEqualTo(new Answer("one", "", "none"));
            }
            assertThat(ask(client, "a=b").by()).isEqualTo("two");
        }
    }

    private String twoUpstreams(Pairing pairing, Origin one, Origin two, int ofOne, int ofTwo) {
        String sessions = "{sessionName: sid, keyFile: " + directory.resolve("keys") + "}";
        return yaml(pairing, List.of(one))
                .replace("[{name: app}]", "[{name: app, weight: " + ofOne + "}, {name: next, weight: " + ofTwo + "}]")
                .replace(
                        "admin:",
                        "  - {name: next, protocol: " + pairing.upstream + ", endpoints: [{host: 127.0.0.1, port: "
                                + two.port() + "}], sessionPersistence: " + sessions + "}\nadmin:");
    }

    @CrossPairingTest
    void keysChangeWithoutAnEndOfSessions(Pairing pairing) throws Exception {
        keys(KEY);
        try (Origin one = origin("one");
                Origin two = origin("two");
                Rig rig = Rig.start(yaml(pairing, List.of(one, two)));
                Peer client = rig.connect(pairing)) {
            Answer first = ask(client, "a=b");
            keys(NEXT_KEY, KEY); // the gateway watches the file: no reload is needed
            Answer renewed = awaitNewCookie(client, first.cookie());
            assertThat(renewed.by()).isEqualTo(first.by());
            assertThat(renewed.cookie()).startsWith("sid=").isNotEqualTo(first.cookie());
            keys(NEXT_KEY);
            rig.reload(yaml(pairing, List.of(one, two)));
            for (int i = 0; i < REQUESTS; i++) {
                assertThat(ask(client, renewed.cookie())).isEqualTo(new Answer(first.by(), "", "none"));
            }
            assertThat(ask(client, first.cookie()).cookie())
                    .as("its key is gone")
                    .isNotEmpty();
        }
    }

    private static Answer awaitNewCookie(Peer client, String cookie) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        Answer answer = ask(client, cookie);
        while (answer.setCookie().isEmpty()) {
            assertThat(System.nanoTime()).as("no cookie of the new key").isLessThan(deadline);
            LockSupport.parkNanos(50_000_000);
            answer = ask(client, cookie);
        }
        return answer;
    }

    @CrossPairingTest
    void webSocketsBelongToSessionsToo(Pairing pairing) throws Exception {
        keys(KEY);
        try (Origin one = origin("one");
                Origin two = origin("two");
                Rig rig = Rig.start(yaml(pairing, List.of(one, two)));
                Peer client = rig.connect(pairing)) {
            Answer first = ask(client, "a=b");
            for (int i = 0; i < 4; i++) {
                try (Peer peer = rig.connect(pairing)) {
                    PeerStream stream = peer.open();
                    Head answer = Handshake.ask(stream, "/socket", "cookie", first.cookie());
                    assertThat(answer.get("x-origin")).hasValue(first.by());
                    assertThat(answer.get("set-cookie")).isEmpty();
                    WebSocket socket = new WebSocket(stream, true);
                    socket.close(1000);
                    socket.receive();
                }
            }
        }
    }

    @Test
    void clientsThatSpeakTlsGetSecureCookies() throws Exception {
        keys(KEY);
        try (Origin one = origin("one");
                Rig rig = Rig.start(yaml(Pairing.H1_TO_H1, List.of(one)));
                Peer client = rig.connect(Peers.HTTP1_TLS)) {
            assertThat(ask(client, "a=b").setCookie()).contains("; Secure;");
        }
    }

    @Test
    void aReloadWithABadKeyFileChangesNothing() throws Exception {
        keys(KEY);
        try (Origin one = origin("one");
                Origin two = origin("two");
                Rig rig = Rig.start(yaml(Pairing.H1_TO_H1, List.of(one, two)));
                Peer client = rig.connect(Pairing.H1_TO_H1)) {
            Answer first = ask(client, "a=b");
            keys("short");
            assertThatThrownBy(() -> rig.reload(yaml(Pairing.H1_TO_H1, List.of(one, two))))
                    .hasMessageContaining("key 1 has fewer than 32 characters");
            rig.awaitMetric(1, "gateway_auth_files_stale");
            assertThat(rig.admin("/ready"))
                    .contains("sessionPersistence of upstream app: keeping the previous keys: ")
                    .doesNotContain(KEY);
            assertThat(ask(client, first.cookie())).isEqualTo(new Answer(first.by(), "", "none"));
        }
    }
}
