package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Clients use a route or do not, by their addresses, which lists in the configuration and in files have. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class IpAccessIT {
    @TempDir
    Path files;

    private Origin origin() throws IOException {
        return Origin.start().otherwise((stream, head) -> {
            stream.receiveBody();
            stream.send(Head.response(200), false);
            stream.send("in", true);
        });
    }

    private String yaml(Origin origin, Pairing pairing, String ipAccess) {
        return """
                listeners: [{name: clear, address: 127.0.0.1, port: 0, protocol: HTTP, trustedProxies: [127.0.0.1]}]
                routes:
                  - name: shop
                    rules:
                      - name: open
                        backendRefs: [{name: app}]
                      - name: staff
                        matches: [{path: {value: /staff}}]
                        filters:
                          - {type: IPAccess, ipAccess: {%s}}
                        backendRefs: [{name: app}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}], protocol: %s}]
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {path: access.log}
                """
                .formatted(ipAccess, origin.port(), pairing.upstream);
    }

    private static PeerStream ask(Peer client, String path, String from) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", path, "x-forwarded-for", from), true);
        return stream;
    }

    private static int status(Peer client, String path, String from) throws IOException {
        PeerStream stream = ask(client, path, from);
        int status = stream.receiveFinal().status();
        stream.receiveBody();
        return status;
    }

    private static void awaitStatus(Peer client, String from, int wanted) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (status(client, "/staff", from) != wanted) {
            assertThat(System.nanoTime()).as(from + " never gets " + wanted).isLessThan(deadline);
            LockSupport.parkNanos(20_000_000);
        }
    }

    @ParameterizedTest
    @EnumSource
    void whoIsNotAllowedGetsNothingFromTheRouteAndTheCauseTellsWhy(Pairing pairing) throws Exception {
        try (Origin origin = origin();
                Rig rig = Rig.start(
                        yaml(origin, pairing, "allow: [10.0.0.0/8, \"2001:db8::/32\"], deny: [10.9.0.0/16]"));
                Peer client = rig.connect(pairing.client)) {
            assertThat(status(client, "/staff", "10.1.2.3")).isEqualTo(200);
            assertThat(status(client, "/staff", "::ffff:10.1.2.3")).isEqualTo(200);
            assertThat(status(client, "/staff", "2001:db8::7")).isEqualTo(200);
            assertThat(status(client, "/", "192.0.2.1")).isEqualTo(200);
            origin.forget();

            PeerStream denied = ask(client, "/staff", "10.9.0.1");
            Head answer = denied.receiveFinal();
            assertThat(answer.status()).isEqualTo(403);
            assertThat(answer.get("proxy-status"))
                    .hasValueSatisfying(value ->
                            assertThat(value).contains("http_request_denied").contains("\"authz_denied\""));
            assertThat(denied.receiveBody())
                    .contains("authz_denied")
                    .doesNotContain("10.9.0.1")
                    .doesNotContain("IPAccess");
            assertThat(status(client, "/staff", "192.0.2.1")).isEqualTo(403);
            // An upstream might read this path as one of the guarded rule.
            assertThat(status(client, "/staff%2Fx", "192.0.2.1")).isEqualTo(400);
            assertThat(origin.requests("/staff")).isEmpty();

            rig.awaitMetric(
                    2,
                    "gateway_downstream_requests_total",
                    "route=\"shop/staff\"",
                    "code=\"403\"",
                    "cause=\"authz_denied\"");
            List<String> log = rig.awaitAccessLog(7);
            assertThat(log).anySatisfy(line -> assertThat(line)
                    .contains("\"cause\":\"authz_denied\"", "client address 10.9.0.1 is denied"));
        }
    }

    @CrossPairingTest
    void aChangedFileHoldsWithoutAReloadAndAReloadChangesTheLists(Pairing pairing) throws Exception {
        Path list = Files.writeString(files.resolve("blocked"), "192.0.2.1 # yesterday\n");
        String fromFile = "denyFiles: [\"" + list + "\"]";
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing, fromFile));
                Peer client = rig.connect(pairing.client)) {
            assertThat(status(client, "/staff", "192.0.2.1")).isEqualTo(403);
            assertThat(status(client, "/staff", "192.0.2.2")).isEqualTo(200);

            Path next = Files.writeString(files.resolve("next"), "192.0.2.2\n");
            Files.move(next, list, StandardCopyOption.ATOMIC_MOVE);
            awaitStatus(client, "192.0.2.2", 403);
            assertThat(status(client, "/staff", "192.0.2.1")).isEqualTo(200);
            assertThat(rig.metric("gateway_config_generation")).isEqualTo(1);

            rig.reload(yaml(origin, pairing, fromFile + ", deny: [192.0.2.3]"));
            assertThat(status(client, "/staff", "192.0.2.2")).isEqualTo(403);
            assertThat(status(client, "/staff", "192.0.2.3")).isEqualTo(403);
            assertThat(status(client, "/staff", "192.0.2.1")).isEqualTo(200);
        }
    }

    @Test
    void aFileThatCannotBeUsedChangesNothingAndIsToldWithItsLine() throws Exception {
        Path list = Files.writeString(files.resolve("blocked"), "192.0.2.1\n");
        String entry = "denyFiles: [\"" + list + "\"]";
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, Pairing.H1_TO_H1, entry));
                Peer client = rig.connect(Peers.HTTP1)) {
            Files.writeString(list, "192.0.2.2\n 192.0.2.256\n");
            String problem = list + ":2:2: expected an IP address";
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (!rig.admin("/ready").contains(problem)) {
                assertThat(System.nanoTime()).isLessThan(deadline);
                LockSupport.parkNanos(20_000_000);
            }
            assertThat(rig.admin("/ready"))
                    .containsPattern("gateway.yaml:\\d+:\\d+: IPAccess: keeping the previous addresses: ");
            assertThat(status(client, "/staff", "192.0.2.1")).isEqualTo(403);
            assertThat(status(client, "/staff", "192.0.2.2")).isEqualTo(200);

            HttpResponse<String> refused = rig.post("/reload");
            assertThat(refused.statusCode()).isNotEqualTo(200);
            assertThat(refused.body()).contains(problem);
            Files.writeString(list, "192.0.2.2\n");
            rig.reload(yaml(origin, Pairing.H1_TO_H1, entry));
            assertThat(status(client, "/staff", "192.0.2.2")).isEqualTo(403);
            assertThat(rig.admin("/ready")).doesNotContain("IPAccess");
        }
    }
}
