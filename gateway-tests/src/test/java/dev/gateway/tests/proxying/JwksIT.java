package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.testing.SigningKey;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys of tokens come from the issuer's server, whatever that does. */
@Timeout(120)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class JwksIT {
    private static final SigningKey FIRST = SigningKey.of("RS256", "first");
    private static final SigningKey SECOND = SigningKey.of("ES256", "second");

    @TempDir
    Path files;

    private volatile Origin.Behavior keys = keys(FIRST);

    private static Origin.Behavior keys(SigningKey... set) {
        return body(SigningKey.set(set));
    }

    private static Origin.Behavior body(String body) {
        return (stream, head) -> {
            stream.receiveBody();
            stream.send(Head.response(200, "cache-control", "max-age=600"), false);
            stream.send(body, true);
        };
    }

    /** The issuer's server, which speaks TLS and does what a test tells it to. */
    private Origin issuer() throws IOException {
        Origin issuer = Origin.startTls().on("/keys", (stream, head) -> keys.serve(stream, head));
        issuer.writeCertificate(files.resolve("ca.crt"));
        return issuer;
    }

    private static Origin origin() throws IOException {
        return Origin.start().otherwise((stream, head) -> {
            String body = stream.receiveBody();
            stream.send(Head.response(200), false);
            stream.send(body + "|" + String.join(",", head.all("x-user")), true);
        });
    }

    private static String yaml(Origin origin, Pairing pairing, String provider, String more) {
        return """
                listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes:
                  - name: shop
                    rules:
                      - name: all
                        filters:
                          - type: JWT
                            jwt:
                              providers: [{issuer: "https://id.example", audiences: [shop], %s}]
                              claimsToHeaders: [{claim: sub, header: X-User}]
                %s
                        backendRefs: [{name: app}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}], protocol: %s}]
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {path: access.log}
                """
                .formatted(provider, more, origin.port(), pairing.upstream);
    }

    private String url(Origin issuer) {
        return "jwksUrl: \"https://localhost:" + issuer.port() + "/keys\", caFile: \"" + files.resolve("ca.crt") + "\"";
    }

    private static String claims(String user, String more) {
        return "{\"iss\":\"https://id.example\",\"aud\":\"shop\",\"sub\":\"" + user + "\",\"exp\":4102444800" + more
                + "}";
    }

    private static Head ask(Peer client, String token) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/", "authorization", "Bearer " + token), true);
        Head response = stream.receiveFinal();
        stream.receiveBody();
        return response;
    }

    private static int status(Peer client, String token) throws IOException {
        return ask(client, token).status();
    }

    private static void awaitStatus(Peer client, String token, int wanted) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (status(client, token) != wanted) {
            assertThat(System.nanoTime())
                    .as("the status never becomes " + wanted)
                    .isLessThan(deadline);
            LockSupport.parkNanos(50_000_000);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aRequestWithABodyWaitsForTheFirstKeysAndAReloadKeepsThem(Pairing pairing) throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        keys = (stream, head) -> {
            asked.countDown();
            assertThat(answer.await(60, TimeUnit.SECONDS)).isTrue();
            keys(FIRST).serve(stream, head);
        };
        String token = FIRST.token(claims("ann", ""));
        try (Origin issuer = issuer();
                Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing, url(issuer), ""));
                Peer client = rig.connect(pairing.client)) {
            assertThat(asked.await(60, TimeUnit.SECONDS)).isTrue();
            PeerStream stream = client.open();
            stream.send(Head.request("POST", "/", "authorization", "Bearer " + token, "content-length", "8"), false);
            stream.send("half", false);
            rig.awaitMetric(1, "gateway_downstream_requests_active");
            assertThat(origin.requests("/")).isEmpty();
            answer.countDown();
            stream.send("half", true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo("halfhalf|ann");

            rig.reload(yaml(origin, pairing, url(issuer), "              requireExpiration: false"));
            assertThat(status(client, token)).isEqualTo(200);
            assertThat(issuer.requests("/keys")).hasSize(1);
            assertThat(issuer.requests("/keys").get(0).get("user-agent")).hasValue("gateway-jwks");
            rig.awaitMetric(1, "gateway_jwks_fetches_total", "result=\"success\"");
            assertThat(rig.metric("gateway_jwks_age_seconds")).isNotNegative();
            assertThat(rig.admin("/upstreams"))
                    .contains("\"name\": \"jwks:https://localhost:" + issuer.port() + "\"", "\"keys\": 1");

            rig.reload(yaml(origin, pairing, url(issuer).replace("/keys", "/others"), ""));
            assertThat(status(client, token)).as("the page is not there").isEqualTo(503);
            assertThat(rig.admin("/upstreams")).doesNotContain("/keys\"").contains("/others\"");
        }
    }

    /** A client that leaves while its request waits for keys leaves nothing behind. */
    @CrossPairingTest
    void aRequestThatWaitsForKeysMayBeAborted(Pairing pairing) throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        keys = (stream, head) -> {
            assertThat(answer.await(60, TimeUnit.SECONDS)).isTrue();
            keys(FIRST).serve(stream, head);
        };
        String token = FIRST.token(claims("ann", ""));
        try (Origin issuer = issuer();
                Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing, url(issuer), ""));
                Peer other = rig.connect(pairing.client)) {
            try (Peer client = rig.connect(pairing.client)) {
                PeerStream stream = client.open();
                stream.send(
                        Head.request("POST", "/", "authorization", "Bearer " + token, "content-length", "8"), false);
                stream.send("half", false);
                rig.awaitMetric(1, "gateway_downstream_requests_active");
                stream.reset();
                rig.awaitMetric(0, "gateway_downstream_requests_active");
            }
            answer.countDown();
            assertThat(status(other, token)).isEqualTo(200);
            assertThat(origin.requests("/")).hasSize(1);
        }
    }

    @CrossPairingTest
    void keysAreRotatedUnderLoadWithoutARefusal(Pairing pairing) throws Exception {
        try (Origin issuer = issuer();
                Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing, url(issuer), ""));
                Peer client = rig.connect(pairing.client)) {
            assertThat(status(client, FIRST.token(claims("ann", "")))).isEqualTo(200);
            AtomicBoolean rotated = new AtomicBoolean();
            AtomicBoolean over = new AtomicBoolean();
            List<CompletableFuture<Integer>> callers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                String user = "user" + i;
                callers.add(CompletableFuture.supplyAsync(() -> call(rig, pairing, user, rotated, over)));
            }
            keys = keys(FIRST, SECOND);
            rotated.set(true);
            awaitRequests(origin, origin.requests("/").size() + 200);
            keys = keys(SECOND); // the next fetch is far away
            awaitRequests(origin, origin.requests("/").size() + 100);
            over.set(true);
            for (CompletableFuture<Integer> caller : callers) {
                assertThat(caller.get(60, TimeUnit.SECONDS)).isPositive();
            }
            assertThat(issuer.requests("/keys")).hasSize(2);
            rig.awaitMetric(2, "gateway_jwks_fetches_total", "result=\"success\"");
        }
    }

    private static void awaitRequests(Origin origin, int count) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (origin.requests("/").size() < count) {
            assertThat(System.nanoTime()).as("requests stop").isLessThan(deadline);
            LockSupport.parkNanos(10_000_000);
        }
    }

    /** Sends new tokens until it is over, of the second key when keys have been rotated; returns how many of that. */
    private static int call(Rig rig, Pairing pairing, String user, AtomicBoolean rotated, AtomicBoolean over) {
        int ofSecond = 0;
        try (Peer client = rig.connect(pairing.client)) {
            for (int i = 0; !over.get(); i++) {
                boolean second = rotated.get() && i % 2 == 0;
                String token = (second ? SECOND : FIRST).token(claims(user, ",\"jti\":" + i));
                assertThat(status(client, token)).isEqualTo(200);
                ofSecond += second ? 1 : 0;
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return ofSecond;
    }

    @ParameterizedTest
    @ValueSource(strings = {"dead", "broken", "huge", "garbage", "redirect", "slow", "untrusted"})
    void aServerThatFailsRefusesNobodyForEver(String how) throws Exception {
        Pairing pairing = Pairing.H1_TO_H1;
        String token = FIRST.token(claims("ann", ""));
        CountDownLatch refused = new CountDownLatch(1);
        keys = switch (how) {
            case "dead" ->
                (stream, head) -> {
                    throw new IOException("a reset");
                };
            case "broken" -> (stream, head) -> stream.send(Head.response(500), true);
            case "huge" -> body(" ".repeat(2 << 20));
            case "garbage" -> body("<html>");
            case "redirect" -> (stream, head) -> stream.send(Head.response(302, "location", "/elsewhere"), true);
            case "slow" ->
                (stream, head) -> {
                    stream.send(Head.response(200), false);
                    stream.send("{", false);
                    stream.receiveBody();
                    assertThat(refused.await(60, TimeUnit.SECONDS)).isTrue();
                };
            default -> keys(FIRST);
        };
        try (Origin issuer = issuer();
                Origin origin = origin();
                Rig rig = Rig.start(yaml(
                        origin,
                        pairing,
                        how.equals("untrusted") ? url(issuer).replaceFirst(", caFile.*", "") : url(issuer),
                        ""));
                Peer client = rig.connect(Peers.HTTP1)) {
            issuer.on("/elsewhere", keys(FIRST));
            Head refusal = ask(client, token);
            assertThat(refusal.status()).isEqualTo(503);
            refused.countDown();
            assertThat(refusal.get("proxy-status"))
                    .hasValueSatisfying(value -> assertThat(value).contains("authz_error"));
            assertThat(rig.awaitAccessLog(1).get(0)).contains("JWT: no keys from https://localhost:");
            assertThat(rig.admin("/ready")).startsWith("ready").contains("JWT: cannot fetch the keys of ");
            assertThat(rig.metric("gateway_jwks_fetches_total", "result=\"failure\""))
                    .isPositive();
            assertThat(issuer.requests("/elsewhere")).isEmpty();
            assertThat(status(client, FIRST.token("{\"alg\":\"none\"}", claims("eve", ""))))
                    .isEqualTo(401);

            if (how.equals("untrusted")) {
                rig.reload(yaml(origin, pairing, url(issuer), ""));
            }
            keys = keys(FIRST);
            awaitStatus(client, token, 200);
            assertThat(rig.admin("/ready")).doesNotContain("JWT");
        }
    }

    @Test
    void anOutageOfTheServerChangesNothing() throws Exception {
        Pairing pairing = Pairing.H1_TO_H1;
        try (Origin issuer = issuer();
                Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing, url(issuer), ""));
                Peer client = rig.connect(Peers.H2C)) {
            assertThat(status(client, FIRST.token(claims("ann", "")))).isEqualTo(200);
            keys = (stream, head) -> stream.send(Head.response(500), true);
            Head undecided = ask(client, SECOND.token(claims("bob", "")));
            assertThat(undecided.status())
                    .as("nobody knows whether the issuer has that key")
                    .isEqualTo(503);
            assertThat(undecided.get("proxy-status"))
                    .hasValueSatisfying(value -> assertThat(value).contains("authz_error"));
            assertThat(status(client, FIRST.token(claims("bob", "")))).isEqualTo(200);
            rig.awaitMetric(1, "gateway_auth_files_stale");
            assertThat(rig.admin("/upstreams")).contains("\"state\": \"stale\"", "\"problem\": \"answered 500\"");
            keys = keys(FIRST, SECOND);
            rig.awaitMetric(0, "gateway_auth_files_stale"); // by the next try
            assertThat(status(client, SECOND.token(claims("bob", "")))).isEqualTo(200);
        }
    }

    /** Keys that nobody has, by the hundred: the issuer sees a few requests, and then one in ten seconds. */
    @Test
    void strangersCannotFloodTheIssuer() throws Exception {
        Pairing pairing = Pairing.H1_TO_H1;
        try (Origin issuer = issuer();
                Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing, url(issuer), ""));
                Peer client = rig.connect(Peers.H2C)) {
            assertThat(status(client, FIRST.token(claims("ann", "")))).isEqualTo(200);
            long began = System.nanoTime();
            for (int i = 0; i < 500; i++) {
                SigningKey stranger = SECOND.as("ES256", "stranger" + i);
                assertThat(status(client, stranger.token(claims("eve", "")))).isEqualTo(401);
            }
            long allowed = 6 + TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began) / 10;
            assertThat((long) issuer.requests("/keys").size()).isBetween(2L, 1 + allowed);
            assertThat(status(client, FIRST.token(claims("bob", "")))).isEqualTo(200);
        }
    }

    /** The limit counts by what the issuer has signed. */
    @CrossPairingTest
    void claimsAreCountedApart(Pairing pairing) throws Exception {
        String limits =
                """
                          - type: RateLimit
                            rateLimit:
                              limits:
                                - {name: tenant, requests: 2, interval: 1h, key: [{claim: org.tenant}]}
                """;
        try (Origin issuer = issuer();
                Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing, url(issuer), limits));
                Peer client = rig.connect(pairing.client)) {
            String first = ",\"org\":{\"tenant\":\"first\"}";
            assertThat(status(client, FIRST.token(claims("ann", first)))).isEqualTo(200);
            assertThat(status(client, FIRST.token(claims("bob", first)))).isEqualTo(200);
            assertThat(status(client, FIRST.token(claims("cat", first)))).isEqualTo(429);
            assertThat(status(client, FIRST.token(claims("cat", first.replace("first", "second")))))
                    .isEqualTo(200);
            assertThat(status(client, FIRST.token(claims("dan", "")))).isEqualTo(200);
            assertThat(status(client, FIRST.token(claims("eve", "")))).isEqualTo(200);
            assertThat(status(client, FIRST.token(claims("fay", "")))).isEqualTo(429);
            rig.reload(yaml(origin, pairing, url(issuer), limits));
            assertThat(status(client, FIRST.token(claims("ann", first)))).isEqualTo(429);
        }
    }
}
