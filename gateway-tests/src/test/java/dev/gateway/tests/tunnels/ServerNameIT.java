package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.CertificateAuthority;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.io.BufferedInputStream;
import java.nio.file.Path;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A listener of several certificates shows each client the one for the name that it asks for. */
@Tag("platform")
class ServerNameIT {
    @TempDir
    static Path directory;

    private static CertificateAuthority authority;
    private static Origin origin;
    private static Rig rig;

    @BeforeAll
    static void start() throws Exception {
        authority = new CertificateAuthority("Test CA", directory);
        origin = Origin.start().on("/", Behaviors.text("hello"));
        rig = Rig.start(
                """
                listeners:
                  - name: secure
                    address: 127.0.0.1
                    port: 0
                    protocol: HTTPS
                    tls:
                      certificateRefs:
                        - %s
                        - %s
                        - %s
                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                accessLog: {format: json, path: access.log}
                """
                        .formatted(
                                authority.issue("first.test").ref(),
                                authority.issue("shop.test", "www.shop.test").ref(),
                                authority.issue("*.shop.test").ref(),
                                origin.port()));
    }

    @AfterAll
    static void stop() throws Exception {
        rig.close();
        origin.close();
    }

    @ParameterizedTest
    @CsvSource({
        "first.test, first.test",
        "shop.test, shop.test",
        "SHOP.Test, shop.test",
        "www.shop.test, shop.test", // an exact name goes before a wildcard
        "api.shop.test, *.shop.test",
        "v1.api.shop.test, first.test", // a wildcard stands for one label
        "elsewhere.test, first.test",
        ", first.test",
    })
    void theNameChoosesTheCertificate(String asked, String subject) throws Exception {
        try (SSLSocket socket = authority.connect(rig.tlsPort(), asked)) {
            assertThat(socket.getSession().getPeerPrincipal().getName()).isEqualTo("CN=" + subject);
            PeerStream stream = new Http1Peer(socket, new BufferedInputStream(socket.getInputStream()), true).open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo("hello");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "shop.test, --http1.1, 1.1",
        "shop.test, --http2, 2",
        "api.shop.test, --http2, 2",
        "first.test, --http1.1, 1.1",
    })
    void curlVerifiesTheNameItAsksFor(String host, String option, String version) throws Exception {
        assertThat(curl(host, option).output()).isEqualTo("hello " + version + " 200");
    }

    @Test
    void curlRefusesTheCertificateOfAnotherName() throws Exception {
        assertThat(curl("elsewhere.test", "--http2").exit()).isEqualTo(60); // the peer's certificate is not good
    }

    @Test
    void opensslIsShownTheWholeChain() throws Exception {
        String openssl = Tools.find("openssl");
        String answer = Tools.run(
                        openssl,
                        "s_client",
                        "-connect",
                        "127.0.0.1:" + rig.tlsPort(),
                        "-servername",
                        "api.shop.test",
                        "-verify_hostname",
                        "api.shop.test",
                        "-verify_return_error",
                        "-CAfile",
                        authority.file().toString())
                .output();
        assertThat(answer).contains("Verify return code: 0 (ok)").contains("CN = *.shop.test");
    }

    private static Tools.Result curl(String host, String option) throws Exception {
        return Tools.run(
                Tools.find("curl"),
                "-sS",
                "--max-time",
                "20",
                "--noproxy",
                "*",
                "--cacert",
                authority.file().toString(),
                "--resolve",
                host + ":" + rig.tlsPort() + ":127.0.0.1",
                option,
                "-w",
                " %{http_version} %{http_code}",
                "https://" + host + ":" + rig.tlsPort() + "/");
    }
}
