package dev.gateway.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is shown of listeners and their certificates: {@link ListenerView} and {@link CertificateView}. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // what each test's start sets
class ListenerViewTest {
    private static final String YAML =
            """
            listeners:
              - {name: web, address: 127.0.0.1, port: 0, protocol: HTTP}
              - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: tls}}
              - {name: raw, address: 127.0.0.1, port: 0, protocol: TCP}
              - {name: file, unix: web.sock, protocol: HTTP, limits: {maxConnections: 7}}
            routes:
              - {name: shop, parentRefs: [{name: web}, {name: secure}], rules: [{backendRefs: [{name: app}]}]}
              - {name: bytes, parentRefs: [{name: raw}], rules: [{backendRefs: [{name: app}]}]}
            upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 9}]}]
            connect: [{name: out, parentRefs: [{name: web}], allow: [a.example]}]
            admin: {address: 127.0.0.1, port: 0}
            accessLog: {format: off}
            drain: {timeout: 100ms}
            workers: 1
            """;

    @TempDir
    static Path directory; // the certificate is made once

    private StatusRig rig;

    @BeforeEach
    void start() throws Exception {
        rig = StatusRig.start(YAML, directory);
    }

    @AfterEach
    void stop() {
        rig.close();
    }

    private List<Map<String, Object>> view() {
        return new ListenerView(rig.active(), rig.listeners).all();
    }

    @Test
    void listenersAreShownInTheOrderOfTheFileAndTheAdminListenerLast() {
        List<Map<String, Object>> all = view();
        assertThat(all).extracting(each -> each.get("name")).containsExactly("web", "secure", "raw", "file", "admin");
        assertThat(all)
                .extracting(each -> each.get("protocol"))
                .containsExactly("HTTP", "HTTPS", "TCP", "HTTP", "HTTP");
        assertThat(all).extracting(each -> each.get("tls")).containsExactly(false, true, false, false, false);
        assertThat(all)
                .extracting(each -> each.get("url"))
                .containsExactly(
                        "http://127.0.0.1:" + rig.listeners.port("web") + "/",
                        "https://127.0.0.1:" + rig.listeners.port("secure") + "/",
                        "tcp://127.0.0.1:" + rig.listeners.port("raw"),
                        "unix:" + directory.resolve("web.sock"),
                        "http://127.0.0.1:" + rig.listeners.port("admin") + "/");
        assertThat(all)
                .allSatisfy(each ->
                        assertThat(each).containsEntry("state", "serving").containsEntry("connections", 0));
        assertThat(all.get(3)).containsEntry("maxConnections", 7);
    }

    @Test
    void aListenerTellsWhichRoutesAndTunnelsItServes() {
        List<Map<String, Object>> all = view();
        assertThat(all.get(0))
                .containsEntry("at", "gateway.yaml:2:5")
                .containsEntry("routes", List.of("shop"))
                .containsEntry("connect", List.of("out"));
        assertThat(all.get(2)).containsEntry("routes", List.of("bytes")).containsEntry("connect", List.of());
        assertThat(all.get(3)).containsEntry("routes", List.of());
        assertThat(all.get(4)).doesNotContainKeys("at", "routes", "connect");
    }

    @Test
    void aListenerThatAReloadRemovesIsShownUntilItHasDrained() throws Exception {
        String without = YAML.replaceAll("(?m)^  - \\{name: (raw|file|bytes|secure).*\n", "")
                .replace(", {name: secure}]", "]");
        List<Map<String, Object>> all = new ArrayList<>();
        rig.reload(without, () -> all.addAll(view()));
        assertThat(all)
                .extracting(each -> each.get("name") + " " + each.get("protocol") + " " + each.get("state"))
                .containsExactlyInAnyOrder(
                        "web HTTP serving",
                        "secure HTTPS draining",
                        "raw TCP draining",
                        "file HTTP draining",
                        "admin HTTP serving");
        assertThat(all.get(0)).containsEntry("name", "web");
        assertThat(all.get(4)).containsEntry("name", "admin");
    }

    @Test
    void aCertificateIsShownAsToolsPrintIt() {
        Map<String, Object> view = CertificateView.of(rig.listeners, rig.certificates);
        assertThat(view).containsEntry("problems", List.of());
        List<?> all = (List<?>) Objects.requireNonNull(view.get("certificates"));
        assertThat(all).hasSize(1);
        Map<?, ?> certificate = (Map<?, ?>) all.get(0);
        assertThat(certificate.keySet().stream().map(String::valueOf))
                .containsExactly(
                        "listener", "names", "subject", "issuer", "serial", "notBefore", "notAfter", "fingerprint");
        assertThat(certificate.get("listener")).isEqualTo("secure");
        assertThat(String.valueOf(certificate.get("names"))).contains("localhost", "127.0.0.1");
        assertThat(certificate.get("issuer")).as("it is self-signed").isEqualTo(certificate.get("subject"));
        assertThat(String.valueOf(certificate.get("serial"))).matches("[0-9a-f]+");
        assertThat(String.valueOf(certificate.get("notAfter"))).matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ");
        assertThat(String.valueOf(certificate.get("fingerprint"))).matches("([0-9A-F]{2}:){31}[0-9A-F]{2}");
    }
}
