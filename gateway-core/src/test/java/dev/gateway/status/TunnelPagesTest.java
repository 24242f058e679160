package dev.gateway.status;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.runtime.assembly.ActiveConfig;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What clients and operators of tunnels are told. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // what the start sets
class TunnelPagesTest {
    @TempDir
    static Path directory;

    private static StatusRig rig;

    private final TunnelPages pages = new TunnelPages(() -> rig.active(), name -> 3128);

    @BeforeAll
    static void start() throws Exception {
        rig = StatusRig.start(
                """
                listeners:
                  - {name: web, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: egress, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: tls}}
                  - {name: file, unix: proxy.sock, protocol: HTTP}
                routes: [{parentRefs: [{name: web}], rules: [{filters: [{type: DirectResponse, directResponse: {}}]}]}]
                connect:
                  - {parentRefs: [{name: egress}, {name: file}], allow: [a.example], trustedDestinations: [10.0.0.0/8]}
                  - {parentRefs: [{name: secure}], allow: [b.example]}
                admin: {enabled: false}
                accessLog: {format: off}
                workers: 1
                """,
                directory);
    }

    @AfterAll
    static void stop() {
        rig.close();
    }

    @Test
    void theListenersThatOfferTunnelsAreNamed() {
        assertThat(pages.listeners()).containsExactly("egress", "file", "secure");
    }

    private @Nullable String script(String listener, String host) {
        return pages.proxyAutoConfig(listener, host);
    }

    @Test
    void theScriptNamesTheListenerByTheHostThatTheClientUsed() {
        assertThat(script("egress", "gateway.test"))
                .contains("\"PROXY gateway.test:3128\"")
                .doesNotContain("HTTPS");
        assertThat(script("secure", "2001:db8::1")).contains("\"HTTPS [2001:db8::1]:3128\"");
    }

    @Test
    void aSocketFileHasNoScriptForBrowsers() {
        assertThat(script("file", "gateway.test")).isNull();
        assertThat(pages.noProxy("file")).isNotNull();
    }

    @Test
    void whereNoTunnelsAreOfferedNothingIsTold() {
        for (String listener : List.of("web", "none", "")) {
            assertThat(script(listener, "gateway.test")).isNull();
            assertThat(pages.noProxy(listener)).isNull();
            assertThat(pages.allowList(listener)).isNull();
        }
    }

    @Test
    void whatNobodyAskedForIsNoList() {
        assertThat(pages.allowList("egress")).isEqualTo("# covers 0 requests\nallowedPorts: []\nallow: []\n");
    }

    @Test
    void beforeTheFirstConfigurationThereAreNoTunnels() {
        ActiveConfig none = null;
        TunnelPages early = new TunnelPages(() -> none, name -> 3128);
        assertThat(early.listeners()).isEmpty();
        assertThat(early.proxyAutoConfig("egress", "gateway.test")).isNull();
        assertThat(early.noProxy("egress")).isNull();
        assertThat(early.allowList("egress")).isNull();
    }
}
