package dev.gateway.tests.observability;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What comes from the environment, or is a token by its name, stands in no log and on no page. */
@Tag("jar")
@Timeout(120)
class SecretsIT {
    private static final String SECRET = "sk-live-4f9aSECRET77";
    private static final String YAML =
            """
            listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
            routes:
              - rules:
                  - matches: [{path: {value: "/t/${BACKEND_SECRET}"}}]
                    filters: [{type: DirectResponse, directResponse: {body: "password is ${BACKEND_SECRET}"}}]
                  - filters:
                      - {type: ResponseHeaderModifier, responseHeaderModifier: {set: [{name: X-Shared, value: "%s"}]}}
                      - {type: DirectResponse, directResponse: {body: hello}}
            admin: {port: 0}
            accessLog: {path: access.log}
            """;

    private static GatewayJar start() throws Exception {
        return GatewayJar.of(YAML.formatted("${BACKEND_HMAC}"))
                .under("env", "BACKEND_SECRET=" + SECRET, "BACKEND_HMAC=" + SECRET, "FROM_ECHO=" + SECRET + "\n")
                .start();
    }

    @Test
    void aReloadThatFailsTellsNoSecret() throws Exception {
        try (GatewayJar gateway = start()) {
            gateway.awaitLog("SIGHUP reloads");
            Path file = gateway.directory().resolve("gateway.yaml");
            Files.writeString(file, YAML.formatted("Bearer ${FROM_ECHO}"));
            gateway.signal("HUP");
            gateway.awaitLog("The reload failed");
            assertThat(gateway.log()).doesNotContain("sk-live").contains("character 28 is a line break", "FROM_ECHO");
            String ready = gateway.admin("/ready", Duration.ofSeconds(20)).body();
            assertThat(ready).doesNotContain("sk-live").contains("character 28 is a line break");
        }
    }

    @Test
    void noPageShowsWhatComesFromTheEnvironment() throws Exception {
        try (GatewayJar gateway = start()) {
            for (String path :
                    new String[] {"/config", "/routes", "/explain?path=/x", "/explain?path=/x&format=json"}) {
                assertThat(gateway.admin(path, Duration.ofSeconds(20)).body())
                        .as(path)
                        .isNotEmpty()
                        .doesNotContain(SECRET);
            }
        }
    }

    @Test
    void theAccessLogIsNotForEverybodyAndShowsNoToken() throws Exception {
        try (GatewayJar gateway = start();
                Peer client = Peers.HTTP1.connect(gateway.port("web"))) {
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/p?page=3&access_token=SECRETTOKEN&API_KEY=K1&x-amz-signature=abc"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo("hello");
            Path log = gateway.directory().resolve("access.log");
            gateway.await("a line of the access log", () -> log.toFile().length() > 0);
            assertThat(Files.readString(log))
                    .contains("/p?page=3&access_token=***&API_KEY=***&x-amz-signature=***")
                    .doesNotContain("SECRETTOKEN");
            Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(log);
            assertThat(permissions)
                    .contains(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE)
                    .doesNotContain(PosixFilePermission.OTHERS_READ, PosixFilePermission.GROUP_WRITE);
        }
    }
}
