package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients log in by NTLM or Negotiate, which takes several requests on one connection and holds for all that follow. */
class ConnectionLoginIT {
    private final Set<Peer> known = ConcurrentHashMap.newKeySet(); // connections on which a client has logged in
    private final Map<Peer, String> challenges = new ConcurrentHashMap<>();
    private final AtomicInteger challenged = new AtomicInteger();

    private Origin origin(String scheme) throws IOException {
        return Origin.start().otherwise((stream, head) -> {
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
        PeerStream stream = client.open();
        Head head = authorization.isEmpty()
                ? Head.request("GET", "/")
                : Head.request("GET", "/", "authorization", authorization);
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
