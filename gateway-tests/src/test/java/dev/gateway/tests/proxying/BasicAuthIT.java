package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Only users of a file use a route; their passwords end at the gateway, and their names are in its log. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class BasicAuthIT {
    private static final String PASSWORD = "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=";
    private static final String PAGE = "https://shop.example";

    @TempDir
    Path files;

    /** Answers with what it gets of the credentials, once it has the whole body. */
    private static Origin origin() throws IOException {
        return Origin.start().otherwise((stream, head) -> {
            String body = stream.receiveBody();
            stream.send(Head.response(200), false);
            stream.send(body + "|" + head.get("authorization").orElse("none"), true);
        });
    }

    private String yaml(Origin origin, Pairing pairing, String more) {
        return """
                listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes:
                  - name: staff
                    rules:
                      - filters:
                          - {type: BasicAuth, basicAuth: {usersFile: "%s", realm: staff%s}}
                          - {type: CORS, cors: {allowOrigins: ["%s"], allowHeaders: [Authorization]}}
                        backendRefs: [{name: app}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}], protocol: %s}]
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {path: access.log, requestHeaders: [Authorization]}
                """
                .formatted(files.resolve("users"), more, PAGE, origin.port(), pairing.upstream);
    }

    private static String credentials(String text) {
        return "Basic " + Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private static PeerStream ask(Peer client, String text) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("POST", "/", "authorization", credentials(text), "content-length", "4"), false);
        stream.send("body", true);
        return stream;
    }

    /** Asks without a body, which a refusal would not wait for. */
    private static int status(Peer client, String text) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/", "authorization", credentials(text)), true);
        int status = stream.receiveFinal().status();
        stream.receiveBody();
        return status;
    }

    private static void awaitStatus(Peer client, String text, int wanted) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (status(client, text) != wanted) {
            assertThat(System.nanoTime()).as(text + " never gets " + wanted).isLessThan(deadline);
            LockSupport.parkNanos(100_000_000);
        }
    }

    private static PeerStream askFrom(Peer client, String address, String text) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/", "authorization", credentials(text), "x-forwarded-for", address), true);
        return stream;
    }

    private static int status(PeerStream stream) throws IOException {
        int status = stream.receiveFinal().status();
        stream.receiveBody();
        return status;
    }

    /** Each guess comes from an address of its own. */
    @Test
    void guessesAtOneUserAreLimitedWhereverTheyComeFrom() throws Exception {
        Files.writeString(files.resolve("users"), "eve:" + PASSWORD + "\n");
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, Pairing.H2_TO_H1, "")
                        .replace("protocol: HTTP}", "protocol: HTTP, trustedProxies: [127.0.0.1]}"));
                Peer client = rig.connect(Pairing.H2_TO_H1.client)) {
            assertThat(status(askFrom(client, "198.51.100.7", "eve:password"))).isEqualTo(200);
            List<PeerStream> guesses = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                guesses.add(askFrom(client, "2001:db8:7:" + i + "::1", "eve:no" + i));
            }
            int refused = 0;
            for (PeerStream guess : guesses) {
                refused += status(guess) == 429 ? 1 : 0;
            }
            assertThat(refused).isGreaterThan(20); // 20 are looked at, and some wait
            assertThat(status(askFrom(client, "198.51.100.7", "eve:password"))).isEqualTo(200);
            assertThat(status(askFrom(client, "192.0.2.9", "eve:password"))).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @EnumSource
    void onlyUsersOfTheFileReachTheUpstream(Pairing pairing) throws Exception {
        Files.writeString(files.resolve("users"), "eve:" + PASSWORD + "\n");
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing, ""));
                Peer client = rig.connect(pairing.client)) {
            PeerStream stranger = client.open();
            stranger.send(Head.request("GET", "/", "origin", PAGE), true);
            Head asked = stranger.receiveFinal();
            assertThat(asked.status()).isEqualTo(401);
            assertThat(asked.all("www-authenticate")).containsExactly("Basic realm=\"staff\", charset=\"UTF-8\"");
            assertThat(asked.all("access-control-allow-origin")).containsExactly(PAGE); // a page may read the 401
            assertThat(asked.get("proxy-status"))
                    .hasValueSatisfying(value -> assertThat(value).contains("\"authz_denied\""));
            stranger.receiveBody();
            assertThat(status(client, "eve:wrong")).isEqualTo(401);
            assertThat(origin.requests("/")).isEmpty();

            PeerStream preflight = client.open();
            preflight.send(Head.request("OPTIONS", "/", "origin", PAGE, "access-control-request-method", "POST"), true);
            assertThat(preflight.receiveFinal().status()).isEqualTo(204); // browsers send it without credentials

            PeerStream known = ask(client, "eve:password");
            assertThat(known.receiveFinal().status()).isEqualTo(200);
            assertThat(known.receiveBody()).isEqualTo("body|none");
            assertThat(rig.awaitAccessLog(4))
                    .anySatisfy(line -> assertThat(line).contains("\"identity\":\"eve\"", "\"status\":200"))
                    .noneSatisfy(line -> assertThat(line).contains(credentials("eve:password")));
            rig.awaitMetric(
                    2,
                    "gateway_downstream_requests_total",
                    "route=\"staff\"",
                    "code=\"401\"",
                    "cause=\"authz_denied\"");

            rig.reload(yaml(origin, pairing, ", forwardAuthorization: true"));
            PeerStream forwarded = ask(client, "eve:password");
            assertThat(forwarded.receiveFinal().status()).isEqualTo(200);
            assertThat(forwarded.receiveBody()).isEqualTo("body|" + credentials("eve:password"));

            Files.writeString(files.resolve("users"), "adam:" + PASSWORD + "\n");
            awaitStatus(client, "adam:password", 200);
            assertThat(status(client, "eve:password")).isEqualTo(401);
            assertThat(rig.metric("gateway_config_generation")).isEqualTo(2);
        }
    }
}
