package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.support.GatewayJar;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What becomes of users of the proxy when their file is wrong, and when others try passwords. */
@Tag("jar")
@Timeout(120)
class UsersIT {
    /** SHA-crypt of "right" that takes some hundredths of a second. */
    private static final String SLOW =
            "$6$rounds=60000$saltsalt$okNGCFnNjemxB.l.WNTay6XLL3x6lsOce11AvBFFVlm9n.Qi/JYvEvOcbA7YLbPhptSLR/JE3ymHRQDb6WWnZ/";

    private static final String YAML =
            """
            listeners:
              - name: egress
                address: 127.0.0.1
                port: 0
                protocol: HTTP
                proxyProtocol: {trustedCidrs: [127.0.0.0/8]}
            connect:
              - {parentRefs: [{name: egress}], auth: {basic: {usersFile: %s}}, allow: [none.example]}
            admin: {port: 0}
            accessLog: {format: off}
            """;

    private static GatewayJar start(Path users) throws IOException {
        return GatewayJar.of(YAML.formatted(users)).start();
    }

    private static String sha(String password) throws Exception {
        byte[] digest = MessageDigest.getInstance("SHA-1").digest(password.getBytes(StandardCharsets.US_ASCII));
        return "{SHA}" + Base64.getEncoder().encodeToString(digest);
    }

    /** Returns what a CONNECT is answered: 403 once the password was right, because the host is not allowed. */
    private static int connect(GatewayJar gateway, String from, String user, String password) throws IOException {
        String pair = Base64.getEncoder().encodeToString((user + ":" + password).getBytes(StandardCharsets.US_ASCII));
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), gateway.port("egress"))) {
            socket.getOutputStream()
                    .write(("PROXY TCP4 " + from + " 127.0.0.1 40000 3128\r\n"
                                    + "CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\n"
                                    + "Proxy-Authorization: Basic " + pair + "\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            InputStream in = socket.getInputStream();
            String line = new String(in.readNBytes(12), StandardCharsets.US_ASCII);
            return Integer.parseInt(line.substring(9));
        }
    }

    @Test
    void aWrongLineLocksOutItsOwnUserAndNobodyElse() throws Exception {
        Path users = Files.createTempFile("users", "");
        Files.writeString(users, "ann:" + sha("a") + "\nbob:" + sha("b") + "\ngone:" + sha("g") + "\n");
        try (GatewayJar gateway = start(users)) {
            assertThat(connect(gateway, "192.0.2.1", "ann", "a")).isEqualTo(403);
            assertThat(connect(gateway, "192.0.2.1", "gone", "g")).isEqualTo(403);
            Files.writeString(users, "ann:" + sha("a") + "\nbob:plain-text-password\nnew:" + sha("n") + "\n");
            gateway.await("ready to tell of the line", () -> ready(gateway).contains(users + ":2:1: "));
            assertThat(ready(gateway)).startsWith("ready\n").doesNotContain("plain-text");
            assertThat(connect(gateway, "192.0.2.1", "ann", "a")).isEqualTo(403);
            assertThat(connect(gateway, "192.0.2.1", "new", "n")).isEqualTo(403);
            assertThat(connect(gateway, "192.0.2.1", "bob", "b")).isEqualTo(407);
            assertThat(connect(gateway, "192.0.2.1", "gone", "g")).isEqualTo(407);
            assertThat(gateway.metric("gateway_auth_files_stale")).isEqualTo(1);

            Files.delete(users);
            gateway.await("ready to tell of the file", () -> ready(gateway).contains("there is no file " + users));
            assertThat(connect(gateway, "192.0.2.1", "ann", "a")).as("held on").isEqualTo(403);
            assertThat(gateway.metric("gateway_auth_files_stale")).isEqualTo(1);

            Files.writeString(users, "ann:" + sha("a") + "\n");
            gateway.await("ready to tell of nothing", () -> ready(gateway).equals("ready\n"));
            assertThat(gateway.metric("gateway_auth_files_stale")).isZero();
        } finally {
            Files.deleteIfExists(users);
        }
    }

    private static String ready(GatewayJar gateway) {
        try {
            return gateway.admin("/ready", Duration.ofSeconds(20)).body();
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aFewAddressesCannotLockOutEverybody() throws Exception {
        Path users = Files.createTempFile("users", "");
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 20; i++) {
            lines.append("user").append(i).append(':').append(SLOW).append('\n');
        }
        Files.writeString(users, lines);
        ExecutorService pool = Executors.newCachedThreadPool();
        try (GatewayJar gateway = start(users)) {
            for (int address = 0; address < 8; address++) { // who has failed before
                assertThat(connect(gateway, "198.51.100." + address, "user0", "wrong" + address))
                        .isEqualTo(407);
            }
            List<Future<Integer>> attack = new ArrayList<>();
            for (int i = 0; i < 8 * 16; i++) {
                String from = "198.51.100." + i % 8;
                String password = "guess" + i;
                attack.add(pool.submit(() -> connect(gateway, from, "user0", password)));
            }
            List<Future<Integer>> others = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                String user = "user" + i;
                String from = "192.0.2." + i;
                others.add(pool.submit(() -> connect(gateway, from, user, "right")));
            }
            for (Future<Integer> other : others) {
                assertThat(other.get()).isEqualTo(403);
            }
            for (Future<Integer> attempt : attack) {
                assertThat(attempt.get()).isIn(407, 429, 503);
            }
        } finally {
            pool.shutdownNow();
            Files.deleteIfExists(users);
        }
    }

    @Test
    void wrongPasswordsOfAnAddressAreLimited() throws Exception {
        Path users = Files.createTempFile("users", "");
        Files.writeString(users, "ann:" + sha("a") + "\n");
        try (GatewayJar gateway = start(users)) {
            for (int i = 0; i < 10; i++) {
                assertThat(connect(gateway, "192.0.2.1", "ann", "wrong" + i)).isEqualTo(407);
            }
            assertThat(connect(gateway, "192.0.2.1", "ann", "wrong10")).isEqualTo(429);
            assertThat(connect(gateway, "192.0.2.1", "ann", "wrong3"))
                    .as("known to be wrong")
                    .isEqualTo(407);
            assertThat(connect(gateway, "192.0.2.2", "ann", "a"))
                    .as("from elsewhere")
                    .isEqualTo(403);
        } finally {
            Files.deleteIfExists(users);
        }
    }
}
