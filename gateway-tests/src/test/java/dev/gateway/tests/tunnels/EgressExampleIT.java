package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** config/egress.yaml with the hosts and ports of the test, and curl as its client. */
class EgressExampleIT {
    @TempDir
    static Path directory;

    private static Origin origin;
    private static Origin secret;
    private static Rig rig;

    @BeforeAll
    static void start() throws Exception {
        origin = Origin.startTls("h2", "http/1.1").on("/", Behaviors.text("hello"));
        secret = Origin.start().otherwise(Behaviors.text("secret"));
        String yaml = Files.readString(Path.of("../config/egress.yaml"));
        String ports = "[" + origin.port() + ", " + secret.port() + "]";
        yaml = replace(yaml, "port: 3128", "port: 0");
        yaml = replace(yaml, "port: 9901", "port: 0");
        yaml = replace(yaml, "api.github.com, .example.org]", "localhost, 127.0.0.1]");
        yaml = replace(yaml, "[443]", ports + "\n    trustedDestinations: [localhost]\n    pac: {}");
        rig = Rig.start(yaml);
    }

    private static String replace(String yaml, String old, String by) {
        assertThat(yaml).contains(old);
        return yaml.replace(old, by);
    }

    @AfterAll
    static void stop() throws IOException {
        origin.close(); // whose HTTP/2 connections stay half open until then, and with them their tunnels
        secret.close();
        rig.close();
    }

    private static Tools.Result curl(String url, String... options) throws Exception {
        List<String> command = new ArrayList<>(
                List.of(Tools.find("curl"), "-sS", "--noproxy", "", "-w", " %{http_connect} %{http_code}"));
        if (!url.contains("proxy.pac")) {
            command.addAll(List.of("-x", "http://127.0.0.1:" + rig.port("egress")));
        }
        command.addAll(List.of(options));
        command.add(url);
        return Tools.run(60, command);
    }

    @Test
    void whatIsAllowedIsReached() throws Exception {
        String certificate =
                origin.writeCertificate(directory.resolve("origin.crt")).toString();
        for (String version : List.of("--http1.1", "--http2")) {
            Tools.Result result = curl("https://localhost:" + origin.port() + "/", "--cacert", certificate, version);
            assertThat(result.output()).isEqualTo("hello 200 200");
        }
    }

    @Test
    void whatIsNotAllowedIsRefused() throws Exception {
        assertThat(curl("https://other.example:" + origin.port() + "/").output())
                .endsWith(" 403 000");
        assertThat(curl("https://localhost:" + rig.port("admin") + "/").output())
                .endsWith(" 403 000");
    }

    @Test
    void whatIsAllowedByNameOfAnAddressIsStillPrivate() throws Exception {
        assertThat(curl("https://127.0.0.1:" + origin.port() + "/").output()).endsWith(" 403 000");
    }

    @Test
    void whatIsNotTlsEndsAtOnce() throws Exception {
        int before = secret.requests("/").size();
        Tools.Result result = curl("http://localhost:" + secret.port() + "/", "--proxytunnel");
        assertThat(result.exit()).isNotZero();
        assertThat(result.output()).doesNotContain("secret").contains(" 200 000");
        assertThat(secret.requests("/")).hasSize(before);
    }

    @Test
    void requestsWithoutATunnelAreForwardedUnderTheSameRules() throws Exception {
        assertThat(curl("http://localhost:" + secret.port() + "/").output()).isEqualTo("secret 000 200");
        assertThat(curl("http://127.0.0.1:" + secret.port() + "/").output()).endsWith(" 000 403");
    }

    @Test
    void clientsAreToldWhatToSendHere() throws Exception {
        String proxy = "localhost:" + rig.port("egress");
        String output = curl("http://" + proxy + "/proxy.pac").output();
        assertThat(output)
                .contains("FindProxyForURL", "\"PROXY " + proxy + "\"")
                .endsWith(" 000 200");
    }

    @Test
    void operatorsFindTheSameAtTheAdminListener() throws Exception {
        assertThat(rig.admin("/proxy.pac?listener=egress"))
                .contains("FindProxyForURL", "\"PROXY 127.0.0.1:" + rig.port("egress") + "\"");
        assertThat(rig.admin("/no-proxy")).contains("localhost", "10.0.0.0/8");
        assertThat(rig.admin("/allow-list")).contains("allow: []"); // nothing is audited here
        assertThat(rig.adminResponse("/no-proxy?listener=other").statusCode()).isEqualTo(404);
    }
}
