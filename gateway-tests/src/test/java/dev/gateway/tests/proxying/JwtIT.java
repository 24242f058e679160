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
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Only holders of a signed token use a route; tokens end at the gateway, and the names of their holders are in its log. */
@Timeout(120)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class JwtIT {
    private static final SigningKey FIRST = SigningKey.of("RS256", "first");
    private static final SigningKey SECOND = SigningKey.of("ES256", "second");
    private static final SigningKey STRANGER = SigningKey.of("ES256", "second");

    @TempDir
    Path files;

    /** Answers with the body that it gets, and what it gets of the token. */
    private static Origin origin() throws IOException {
        return Origin.start().otherwise((stream, head) -> {
            String body = stream.receiveBody();
            stream.send(Head.response(200), false);
            stream.send(
                    body + "|" + String.join(",", head.all("x-user")) + "|" + String.join(",", head.all("x-roles"))
                            + "|" + head.get("authorization").orElse("none"),
                    true);
        });
    }

    private void write(SigningKey... keys) throws IOException {
        Files.writeString(files.resolve("jwks.json"), SigningKey.set(keys));
    }

    private String yaml(Origin origin, Pairing pairing, String more) {
        return """
                listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes:
                  - name: shop
                    rules:
                      - name: all
                        filters:
                          - type: JWT
                            jwt:
                              providers: [{issuer: "https://id.example", audiences: [shop], jwksFile: "%s"}]
                              requiredClaims: [{name: scope, values: [orders]}]
                              claimsToHeaders: [{claim: sub, header: X-User}, {claim: realm.roles, header: X-Roles}]
                %s
                        backendRefs: [{name: app}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}], protocol: %s}]
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {path: access.log, requestHeaders: [Authorization]}
                """
                .formatted(files.resolve("jwks.json"), more, origin.port(), pairing.upstream);
    }

    private static String claims(String user, String more) {
        return "{\"iss\":\"https://id.example\",\"aud\":[\"shop\"],\"sub\":\"" + user + "\",\"exp\":4102444800"
                + ",\"scope\":\"openid orders\",\"realm\":{\"roles\":[\"a\",\"b\"]}" + more + "}";
    }

    private static PeerStream open(Peer client, String token) throws IOException {
        PeerStream stream = client.open();
        stream.send(
                Head.request(
                        "POST",
                        "/",
                        "authorization",
                        "Bearer " + token,
                        "x-user",
                        "forged",
                        "x-roles",
                        "root",
                        "content-length",
                        "4"),
                false);
        stream.send("body", true);
        return stream;
    }

    private static String ask(Peer client, String token) throws IOException {
        PeerStream stream = open(client, token);
        int status = stream.receiveFinal().status();
        String body = stream.receiveBody();
        return status == 200 ? body : String.valueOf(status);
    }

    /** Asks without a body, which a refusal would not wait for. */
    private static Head refused(Peer client, String... fields) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/", fields), true);
        Head response = stream.receiveFinal();
        stream.receiveBody();
        return response;
    }

    private static int status(Peer client, String token) throws IOException {
        return refused(client, "authorization", "Bearer " + token).status();
    }

    /** Returns another text for the same bytes: the last character of an RSA signature has bits that no byte takes. */
    private static String withUnusedBits(String token) {
        String digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        int last = token.length() - 1;
        return token.substring(0, last) + digits.charAt(digits.indexOf(token.charAt(last)) ^ 1);
    }

    private static void awaitStatus(Peer client, String token, int wanted) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (status(client, token) != wanted) {
            assertThat(System.nanoTime())
                    .as("the status never becomes " + wanted)
                    .isLessThan(deadline);
            LockSupport.parkNanos(50_000_000);
        }
    }

    @ParameterizedTest
    @EnumSource
    void onlyHoldersOfATokenReachTheUpstream(Pairing pairing) throws Exception {
        write(FIRST);
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing, ""));
                Peer client = rig.connect(pairing.client)) {
            assertThat(refused(client).all("www-authenticate")).containsExactly("Bearer realm=\"gateway\"");
            Head wrong = refused(client, "authorization", "Bearer " + STRANGER.token(claims("eve", "")));
            assertThat(wrong.status()).isEqualTo(401);
            assertThat(wrong.all("www-authenticate"))
                    .containsExactly("Bearer realm=\"gateway\", error=\"invalid_token\"");
            assertThat(wrong.get("proxy-status"))
                    .hasValueSatisfying(value -> assertThat(value).contains("\"authz_denied\""));
            String expired = claims("eve", "").replace("4102444800", "1");
            assertThat(status(client, FIRST.token(expired))).isEqualTo(401);
            String none = SigningKey.base64("{\"alg\":\"none\"}") + "." + SigningKey.base64(claims("eve", "")) + ".";
            assertThat(status(client, none)).isEqualTo(401);
            Head lacking = refused(
                    client,
                    "authorization",
                    "Bearer " + FIRST.token(claims("eve", "").replace("orders", "read")));
            assertThat(lacking.status()).isEqualTo(403);
            assertThat(lacking.all("www-authenticate"))
                    .containsExactly("Bearer realm=\"gateway\", error=\"insufficient_scope\"");
            String token = FIRST.token(claims("ann", ""));
            assertThat(status(client, withUnusedBits(token))).isEqualTo(401);
            assertThat(origin.requests("/")).isEmpty();

            assertThat(ask(client, token)).isEqualTo("body|ann|a,b|none");
            assertThat(ask(client, token)).isEqualTo("body|ann|a,b|none");
            List<String> log = rig.awaitAccessLog(8);
            assertThat(log)
                    .anySatisfy(line -> assertThat(line).contains("\"identity\":\"ann\"", "\"status\":200"))
                    .anySatisfy(line -> assertThat(line).contains("the token has expired", "\"status\":401"))
                    .anySatisfy(line -> assertThat(line).contains("lacks the claim scope", "\"status\":403"))
                    .noneSatisfy(line -> assertThat(line).contains(token.substring(token.length() - 20)));
            rig.awaitMetric(
                    5,
                    "gateway_downstream_requests_total",
                    "route=\"shop/all\"",
                    "code=\"401\"",
                    "cause=\"authz_denied\"");

            rig.reload(yaml(origin, pairing, "              forwardToken: true"));
            assertThat(ask(client, token)).isEqualTo("body|ann|a,b|Bearer " + token);
        }
    }

    @CrossPairingTest
    void keysAreExchangedWithoutAReload(Pairing pairing) throws Exception {
        write(FIRST);
        String old = FIRST.token(claims("ann", ""));
        String next = SECOND.token(claims("ann", ""));
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing, ""));
                Peer client = rig.connect(pairing.client)) {
            assertThat(status(client, old)).isEqualTo(200);
            assertThat(status(client, next)).isEqualTo(401);
            write(FIRST, SECOND);
            awaitStatus(client, next, 200);
            assertThat(status(client, old)).isEqualTo(200);
            write(SECOND);
            awaitStatus(client, old, 401);
            assertThat(status(client, next)).isEqualTo(200);

            Files.writeString(files.resolve("jwks.json"), "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\"}]}");
            rig.awaitMetric(1, "gateway_auth_files_stale");
            assertThat(rig.admin("/ready"))
                    .contains("JWT: keeping the previous keys: ")
                    .contains("key 1 is damaged");
            assertThat(status(client, next)).isEqualTo(200);
            assertThat(rig.metric("gateway_config_generation")).isEqualTo(1);
        }
    }

    /** The limit sees what the token says, and not what the client says. */
    @CrossPairingTest
    void holdersAndTheirClaimsAreCountedApart(Pairing pairing) throws Exception {
        write(FIRST);
        String limits =
                """
                          - type: RateLimit
                            rateLimit:
                              limits:
                                - {name: holder, requests: 2, interval: 1h, key: [{identity: true}]}
                                - {name: roles, requests: 3, interval: 1h, key: [{header: X-Roles}]}
                """;
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing, limits));
                Peer client = rig.connect(pairing.client)) {
            String ann = FIRST.token(claims("ann", ""));
            assertThat(status(client, ann)).isEqualTo(200);
            assertThat(status(client, ann)).isEqualTo(200);
            assertThat(status(client, ann)).isEqualTo(429);
            assertThat(status(client, FIRST.token(claims("bob", "")))).isEqualTo(200);
            assertThat(status(client, FIRST.token(claims("cat", "")))).isEqualTo(429);
            String otherRoles = claims("cat", "").replace("\"a\",\"b\"", "\"c\"");
            assertThat(status(client, FIRST.token(otherRoles))).isEqualTo(200);
        }
    }

    @CrossPairingTest
    void curlShowsItsToken(Pairing pairing) throws Exception {
        write(FIRST);
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing, ""))) {
            Path token =
                    Files.writeString(files.resolve("token"), FIRST.token(claims("ann", "")), StandardCharsets.UTF_8);
            assertThat(curl(rig, pairing, "--data", "body", "-H", "Authorization: Bearer " + Files.readString(token)))
                    .isEqualTo("body|ann|a,b|none 200");
            // Without a body: a curl that sees its stream closed before it has sent a body reports an error.
            assertThat(curl(rig, pairing, "-o", files.resolve("none").toString()))
                    .isEqualTo(" 401");
        }
    }

    private static String curl(Rig rig, Pairing pairing, String... more) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Tools.find("curl"),
                "-sS",
                "--max-time",
                "20",
                "--noproxy",
                "*",
                pairing.client == Peers.HTTP1 ? "--http1.1" : "--http2-prior-knowledge",
                "-H",
                "X-User: forged",
                "-w",
                " %{http_code}"));
        command.addAll(List.of(more));
        command.add("http://127.0.0.1:" + rig.port("clear") + "/");
        Tools.Result result = Tools.run(30, command);
        assertThat(result.exit()).as(result.output()).isZero();
        return result.output();
    }
}
