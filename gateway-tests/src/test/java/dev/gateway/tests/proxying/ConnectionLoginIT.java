package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.CertificateAuthority;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients log in by NTLM or Negotiate, which takes several requests on one connection and holds for all that follow. */
class ConnectionLoginIT {
    @TempDir
    private Path directory;

    private final Set<Peer> known = ConcurrentHashMap.newKeySet(); // connections on which a client has logged in
    private final Map<Peer, String> challenges = new ConcurrentHashMap<>();
    private final AtomicInteger challenged = new AtomicInteger();

    private Origin origin(String scheme) throws IOException {
        return asks(Origin.start(), scheme);
    }

    /** Lets an origin ask for logins by a scheme, which takes two requests on a connection. */
    private Origin asks(Origin origin, String scheme) {
        return origin.otherwise((stream, head) -> {
            stream.receiveBody();
            Peer on = stream.peer();
            String shown = head.get("authorization").orElse("");
            if (shown.equals(scheme + " hello")) {
                String challenge = scheme + " challenge" + challenged.incrementAndGet();
                challenges.put(on, challenge);
                refuse(stream, challenge);
                return;
            }
            if (shown.equals(challenges.get(on) + "-solved")) {
                known.add(on);
            }
            if (known.contains(on)) {
                stream.send(Head.response(200, "content-length", "7"), false);
                stream.send("welcome", true);
            } else {
                refuse(stream, scheme);
            }
        });
    }

    private static void refuse(PeerStream stream, String challenge) throws IOException {
        stream.send(Head.response(401, "www-authenticate", challenge, "content-length", "2"), false);
        stream.send("no", true);
    }

    private static Head ask(Peer client, String authorization) throws IOException {
        return askAt("a.test", client, authorization);
    }

    private static Head askAt(String host, Peer client, String authorization) throws IOException {
        PeerStream stream = client.open();
        Head head = authorization.isEmpty()
                ? Head.request("GET", "/", "host", host)
                : Head.request("GET", "/", "host", host, "authorization", authorization);
        stream.send(head, true);
        Head answer = stream.receiveFinal();
        stream.receiveBody();
        return answer;
    }

    private static String challenge(Head answer) {
        assertThat(answer.status()).isEqualTo(401);
        return answer.get("www-authenticate").orElseThrow();
    }

    private static void logIn(Peer client, String scheme) throws IOException {
        assertThat(challenge(ask(client, ""))).isEqualTo(scheme);
        String challenge = challenge(ask(client, scheme + " hello"));
        assertThat(ask(client, challenge + "-solved").status()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"NTLM", "Negotiate"})
    void aLoginHoldsForItsClientAndNobodyElse(String scheme) throws Exception {
        try (Origin origin = origin(scheme);
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1).top("workers: 1").start();
                Peer other = rig.connect(Pairing.H1_TO_H1)) {
            try (Peer client = rig.connect(Peers.HTTP1)) {
                logIn(client, scheme);
                for (int i = 0; i < 5; i++) {
                    assertThat(challenge(ask(other, ""))).isEqualTo(scheme);
                    assertThat(ask(client, "").status()).isEqualTo(200);
                }
                assertThat(origin.connections()).as("one for each client").isEqualTo(2);
            }
            rig.awaitMetric(1, "gateway_upstream_connections_active"); // its connection has gone with it
            assertThat(challenge(ask(other, ""))).isEqualTo(scheme);
            try (Peer next = rig.connect(Pairing.H1_TO_H1)) {
                assertThat(challenge(ask(next, ""))).isEqualTo(scheme);
            }
        }
    }

    @Test
    void clientsLogInAtTheSameTime() throws Exception {
        try (Origin origin = origin("NTLM");
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1).top("workers: 1").start();
                Peer one = rig.connect(Pairing.H1_TO_H1);
                Peer two = rig.connect(Pairing.H1_TO_H1)) {
            String ofOne = challenge(ask(one, "NTLM hello"));
            String ofTwo = challenge(ask(two, "NTLM hello"));
            assertThat(ofOne).isNotEqualTo(ofTwo);
            assertThat(ask(one, ofOne + "-solved").status()).isEqualTo(200);
            assertThat(ask(two, ofTwo + "-solved").status()).isEqualTo(200);
            for (Peer each : List.of(one, two)) {
                assertThat(ask(each, "").status()).isEqualTo(200);
            }
        }
    }

    @Test
    void aClientWhoseUpstreamConnectionEndsLogsInAgain() throws Exception {
        try (Origin origin = origin("NTLM");
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1).top("workers: 1").start();
                Peer client = rig.connect(Pairing.H1_TO_H1)) {
            logIn(client, "NTLM");
            origin.peers().get(0).close();
            rig.awaitMetric(0, "gateway_upstream_connections_active");
            logIn(client, "NTLM");
        }
    }

    @Test
    void othersThatNeedTheConnectionGetIt() throws Exception {
        try (Origin origin = origin("NTLM");
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1)
                        .top("workers: 1")
                        .upstream("circuitBreaker: {maxConnections: 1}, timeouts: {poolAcquire: 60s}")
                        .start();
                Peer client = rig.connect(Pairing.H1_TO_H1);
                Peer other = rig.connect(Pairing.H1_TO_H1)) {
            logIn(client, "NTLM");
            assertThat(challenge(ask(other, ""))).isEqualTo("NTLM");
            logIn(client, "NTLM");
        }
    }

    /** With {@code serverName: "{host}"}, each host has connections of its own, also after the client has logged in. */
    @Test
    void aLoginHoldsForTheHostThatTheConnectionAskedFor() throws Exception {
        CertificateAuthority authority = new CertificateAuthority("Test CA", directory);
        try (Origin origin = asks(Origin.startTls(authority.issue("a.test", "b.test")), "NTLM");
                Rig rig = Rig.to(origin.port())
                        .upstreamProtocol("http1")
                        .upstream("tls: {caFile: " + authority.file() + ", serverName: '{host}'}")
                        .top("workers: 1")
                        .start();
                Peer client = rig.connect(Peers.HTTP1)) {
            logIn(client, "NTLM");
            for (int i = 0; i < 3; i++) {
                assertThat(challenge(askAt("b.test", client, ""))).isEqualTo("NTLM");
                assertThat(askAt("a.test", client, "").status()).isEqualTo(200);
            }
            assertThat(origin.connections()).as("one for each host").isEqualTo(2);
        }
    }

    private static String yaml(Origin one, Origin two, String rule, String sessions) {
        return """
                workers: 1
                listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes: [{name: all, rules: [{backendRefs: [{name: app}]%s}]}]
                upstreams:
                  - name: app
                    loadBalancer: RoundRobin
                    endpoints: [{host: 127.0.0.1, port: %d}, {host: 127.0.0.1, port: %d}]
                    %s
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {format: "off"}
                """
                .formatted(rule, one.port(), two.port(), sessions);
    }

    /** They stay and go with its sessions, also those of clients that send no cookie. */
    @Test
    void anEndpointThatDrainsKeepsItsLoginsWithItsSessions() throws Exception {
        Path keys = Files.writeString(directory.resolve("keys"), "0123456789abcdef0123456789abcdef");
        try (Origin one = origin("NTLM");
                Origin two = origin("NTLM");
                Rig rig = Rig.start(yaml(one, two, "", "sessionPersistence: {keyFile: \"" + keys + "\"}"));
                Peer client = rig.connect(Peers.HTTP1)) {
            logIn(client, "NTLM");
            Origin used = used(one, two);
            String drain = "/endpoints/app/127.0.0.1:" + used.port() + ":drain";
            rig.post(drain);
            for (int i = 0; i < 3; i++) {
                assertThat(ask(client, "").status()).isEqualTo(200);
            }
            rig.post(drain + "?sessions=0s");
            assertThat(challenge(ask(client, ""))).as("elsewhere").isEqualTo("NTLM");
            known.clear();
            logIn(client, "NTLM");
            assertThat(used.peers()).doesNotContainAnyElementsOf(known);
        }
    }

    @Test
    void aLoginEndsWhenItsEndpointDrains() throws Exception {
        try (Origin one = origin("NTLM");
                Origin two = origin("NTLM");
                Rig rig = Rig.start(yaml(one, two, "", ""));
                Peer client = rig.connect(Peers.HTTP1)) {
            logIn(client, "NTLM");
            Origin used = used(one, two);
            rig.post("/endpoints/app/127.0.0.1:" + used.port() + ":drain");
            assertThat(challenge(ask(client, ""))).as("elsewhere").isEqualTo("NTLM");
            known.clear();
            logIn(client, "NTLM");
            assertThat(used.peers()).doesNotContainAnyElementsOf(known);
        }
    }

    /** Returns the one at which a client has logged in. */
    private Origin used(Origin one, Origin two) {
        return one.peers().stream().anyMatch(known::contains) ? one : two;
    }

    /** A hedge would be on a connection without the login, and its 401 might come first. */
    @Test
    void requestsOfAClientThatHasLoggedInAreNotHedged() throws Exception {
        BlockingQueue<String> arrived = new LinkedBlockingQueue<>();
        CountDownLatch answer = new CountDownLatch(1);
        Origin.Behavior slow = (stream, head) -> {
            stream.receiveBody();
            arrived.add(head.get("x-client").orElseThrow());
            answer.await();
            stream.send(Head.response(200, "content-length", "0"), true);
        };
        try (Origin one = origin("NTLM").on("/slow", slow);
                Origin two = origin("NTLM").on("/slow", slow);
                Rig rig = Rig.start(yaml(one, two, ", hedge: {after: 20ms, budget: 100%}", ""));
                Peer client = rig.connect(Peers.HTTP1);
                Peer other = rig.connect(Peers.HTTP1)) {
            logIn(client, "NTLM");
            PeerStream own = client.open();
            own.send(Head.request("GET", "/slow", "x-client", "known"), true);
            assertThat(arrived.poll(Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS))
                    .isEqualTo("known");
            PeerStream hedged = other.open(); // its timer begins later, and so ends later
            hedged.send(Head.request("GET", "/slow", "x-client", "stranger"), true);
            for (int i = 0; i < 2; i++) {
                assertThat(arrived.poll(Peer.PATIENCE_MILLIS, TimeUnit.MILLISECONDS))
                        .isEqualTo("stranger");
            }
            answer.countDown();
            assertThat(own.receiveFinal().status()).isEqualTo(200);
            assertThat(hedged.receiveFinal().status()).isEqualTo(200);
            assertThat(ask(client, "").status()).as("the login still holds").isEqualTo(200);
            assertThat(arrived).isEmpty();
        } finally {
            answer.countDown();
        }
    }

    /** At the second step: a login of a single step works on any connection. */
    @ParameterizedTest
    @EnumSource(names = {"H1_TO_H2", "H2_TO_H1", "H2_TO_H2"})
    void overHttp2ALoginIsRefusedWithAReason(Pairing pairing) throws Exception {
        try (Origin origin = origin("NTLM");
                Rig rig = Rig.to(origin, pairing).start();
                Peer client = rig.connect(pairing)) {
            assertRefused(rig, client);
        }
    }

    @Test
    void behindATrustedProxyALoginIsRefusedWithAReason() throws Exception {
        try (Origin origin = origin("NTLM");
                Rig rig = Rig.to(origin, Pairing.H1_TO_H1)
                        .listener("trustedProxies: [127.0.0.1]")
                        .start();
                Peer client = rig.connect(Pairing.H1_TO_H1)) {
            assertRefused(rig, client);
        }
    }

    private static void assertRefused(Rig rig, Peer client) throws Exception {
        assertThat(challenge(ask(client, ""))).isEqualTo("NTLM");
        assertThat(ask(client, "NTLM hello").status()).isEqualTo(502);
        assertThat(rig.awaitAccessLog(2).get(1))
                .contains("upstream_protocol_error", "NTLM or Negotiate needs a connection of the client's own");
    }
}
