package dev.gateway.tests.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.GatewayJar;
import dev.gateway.tests.support.Tools;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The jar for this platform alone does what needs native libraries, or libraries of which the jars have a part. */
@Tag("jar")
@Timeout(120)
class PlatformJarIT {
    private static final String PLATFORM =
            System.getProperty("os.arch").equals("aarch64") ? "linux-aarch_64" : "linux-x86_64";

    private static final String PASSWORD = "right";

    /** Made by the C library's crypt, by openssl passwd, and by the reference implementation of Argon2. */
    private static final Map<String, String> USERS = Map.of(
            "bcrypt", "$2y$04$saltsaltsaltsaltsaltsuWyisBCzmIKy8gAWAnfFW028E0rcpgHW",
            "apr1", "$apr1$saltsalt$S.4SHjbjuljtTxlMAnDS//",
            "sha256", "$5$saltsalt$1aZ4x5UIV44zvNqrzDnvxkgrN1oqaxnEleT36Cwe2L9",
            "sha512",
                    "$6$saltsalt$gzY3OAolfMFSB9Ld7iMdOQlViFqO3IOPeU0zkHsD.58tcMxRAFD0Qjfi2sjus3i.8aqWarEvFPREqzp18Jm291",
            "argon2",
                    "$argon2id$v=19$m=256,t=2,p=1$DRe18ec+8ka0R1ajd03qYQ$55wnhU/q3xTq3dC8Eo0YSQF/lE/eaM/qk8FUvnnzpvA");

    private static final String YAML =
            """
            listeners:
              - name: egress
                address: 127.0.0.1
                port: 0
                protocol: HTTPS
                tls: {selfSigned: true, selfSignedDirectory: tls}
            connect:
              - parentRefs: [{name: egress}]
                allow: ["*"]
                allowedPorts: [1-65535]
                denyPrivate: false
                auth: {basic: {usersFile: "%s"}}
            admin: {port: 0}
            accessLog: {format: off}
            """;

    @TempDir
    private Path directory;

    /** Returns what a user's CONNECT is answered: the status, and the body of what came through the tunnel. */
    private static String connect(GatewayJar gateway, Origin origin, String user, String password) throws Exception {
        return Tools.run(
                        Tools.find("curl"),
                        "--silent",
                        "--noproxy",
                        "",
                        "--proxytunnel",
                        "--proxy",
                        "https://localhost:" + gateway.port("egress"),
                        "--proxy-cacert",
                        certificate(gateway).toString(),
                        "--proxy-user",
                        user + ":" + password,
                        "--write-out",
                        " %{http_connect}",
                        "http://127.0.0.1:" + origin.port() + "/")
                .output();
    }

    private static Path certificate(GatewayJar gateway) {
        return gateway.directory().resolve("tls/self-signed.crt");
    }

    private static HttpResponse<String> metrics(GatewayJar gateway, String accepted) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + gateway.adminPort() + "/metrics"))
                                .header("Accept", accepted)
                                .build(),
                        BodyHandlers.ofString());
    }

    @Test
    void tlsAccountsAndMetricsWork() throws Exception {
        StringBuilder users = new StringBuilder();
        USERS.forEach(
                (name, hash) -> users.append(name).append(':').append(hash).append('\n'));
        Path file = Files.writeString(directory.resolve("users"), users);
        try (Origin origin = Origin.start().on("/", Behaviors.text("through"));
                GatewayJar gateway = GatewayJar.of(YAML.formatted(file))
                        .jar(GatewayJar.file(PLATFORM))
                        .start()) {
            String certificate = certificate(gateway).toString();
            Tools.Result verified = Tools.run(Tools.find("openssl"), "verify", "-CAfile", certificate, certificate);
            assertThat(verified.exit()).as(verified.output()).isZero();
            for (String user : USERS.keySet()) {
                assertThat(connect(gateway, origin, user, PASSWORD)).as(user).isEqualTo("through 200");
                assertThat(connect(gateway, origin, user, "wrong")).as(user).endsWith(" 407");
            }

            HttpResponse<String> text = metrics(gateway, "text/plain;version=0.0.4");
            assertThat(text.headers().firstValue("content-type")).hasValue("text/plain; version=0.0.4; charset=utf-8");
            assertThat(text.body()).contains("# TYPE ").doesNotContain("# EOF");
            HttpResponse<String> open = metrics(gateway, "application/openmetrics-text;version=1.0.0");
            assertThat(open.headers().firstValue("content-type"))
                    .hasValue("application/openmetrics-text; version=1.0.0; charset=utf-8");
            assertThat(open.body()).contains("# TYPE ").endsWith("# EOF\n");

            assertThat(gateway.log()).doesNotContain("not available here"); // epoll, and BoringSSL
        }
    }
}
