package dev.gateway.tests.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.tests.peer.CertificateAuthority;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.GatewayJar;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Handshakes with clients and upstreams that do not fit end, and visibly. */
@Tag("jar")
@Timeout(120)
class TlsStrictnessIT {
    @TempDir
    static Path directory;

    private static CertificateAuthority authority;
    private static GatewayJar gateway;

    @BeforeAll
    static void start() throws Exception {
        authority = new CertificateAuthority("Test CA", directory);
        String one = authority.issue("a.test").ref();
        String other = authority.issue("b.test").ref();
        gateway = GatewayJar.of(
                        """
                        listeners:
                          - {name: one, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {certificateRefs: [%s]}}
                          - {name: two, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {certificateRefs: [%s, %s]}}
                        routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {statusCode: 200}}]}]}]
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: json, path: access.log}
                        """
                                .formatted(one, one, other))
                .start();
    }

    @AfterAll
    static void stop() throws Exception {
        gateway.close();
    }

    /** A name that the JDK's own class does not take. */
    private static final class RawName extends SNIServerName {
        RawName(String name) {
            super(0, name.getBytes(StandardCharsets.US_ASCII));
        }
    }

    private static SSLSocket connect(GatewayJar to, String listener, @Nullable String name, String... protocols)
            throws Exception {
        int port = to.port(listener);
        SSLSocket socket = (SSLSocket) authority
                .client(null)
                .getSocketFactory()
                .createSocket(new Socket(InetAddress.getLoopbackAddress(), port), null, port, true);
        try {
            socket.setSoTimeout(Peer.PATIENCE_MILLIS);
            SSLParameters parameters = socket.getSSLParameters();
            parameters.setApplicationProtocols(protocols);
            if (name != null) {
                parameters.setServerNames(List.of(new RawName(name)));
            }
            socket.setSSLParameters(parameters);
            socket.startHandshake();
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    private static int status(SSLSocket socket) throws IOException {
        Http1Peer peer = new Http1Peer(socket, new BufferedInputStream(socket.getInputStream()), true);
        PeerStream stream = peer.open();
        stream.send(Head.request("GET", "/"), true);
        return stream.receiveFinal().status();
    }

    @ParameterizedTest
    @ValueSource(strings = {"one", "two"})
    void aClientNoneOfWhoseProtocolsIsServedIsRefused(String listener) throws Exception {
        double before = gateway.metric("gateway_downstream_handshakes_failed_total", "reason=\"application_protocol\"");
        for (String[] offered : new String[][] {{"ftp"}, {"smtp", "imap"}, {"h3"}}) {
            assertThatThrownBy(() -> connect(gateway, listener, "a.test", offered))
                    .isInstanceOf(SSLHandshakeException.class)
                    .hasMessageContaining("no_application_protocol");
        }
        assertThat(gateway.metric("gateway_downstream_handshakes_failed_total", "reason=\"application_protocol\""))
                .isEqualTo(before + 3);
        for (String[] offered : new String[][] {{}, {"http/1.1"}, {"ftp", "http/1.1"}, {"http/1.0"}}) {
            try (SSLSocket socket = connect(gateway, listener, "a.test", offered)) {
                assertThat(status(socket)).isEqualTo(200);
            }
        }
        try (SSLSocket socket = connect(gateway, listener, "a.test", "ftp", "h2")) {
            assertThat(socket.getApplicationProtocol()).isEqualTo("h2");
        }
    }

    @ParameterizedTest
    @CsvSource({"one, a.test.", "two, a.test.", "two, b.test.", "two, B.test"})
    void aNameWithADotAtItsEndIsTheNameWithoutIt(String listener, String name) throws Exception {
        String plain = name.toLowerCase(java.util.Locale.ROOT).replaceFirst("\\.$", "");
        try (SSLSocket socket = connect(gateway, listener, name)) {
            assertThat(socket.getSession().getPeerPrincipal().getName()).isEqualTo("CN=" + plain);
            assertThat(status(socket)).isEqualTo(200);
        }
    }

    /** A client that names no server gets the first certificate. This one names a server, which others may read as a.test. */
    @ParameterizedTest
    @ValueSource(strings = {"a.test..", "a..test", ".a.test", "..", "a .test"})
    void aNameThatIsNoneIsRefused(String name) {
        for (String listener : List.of("one", "two")) {
            assertThatThrownBy(() -> connect(gateway, listener, name).close())
                    .isInstanceOf(SSLHandshakeException.class)
                    .hasMessageContaining("unrecognized_name");
        }
    }

    @ParameterizedTest
    @CsvSource({"a.test, true", "A.TEST., true", "x.w.test, true", ", true", "elsewhere.test, false", "w.test, false"})
    void aNameThatNoCertificateHasIsRefusedIfThatIsWanted(@Nullable String name, boolean served) throws Exception {
        try (GatewayJar strict = GatewayJar.of(
                        """
                        listeners:
                          - name: web
                            address: 127.0.0.1
                            port: 0
                            protocol: HTTPS
                            tls: {unknownServerName: refuse, certificateRefs: [%s, %s]}
                        routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {statusCode: 200}}]}]}]
                        admin: {address: 127.0.0.1, port: 0}
                        accessLog: {format: off}
                        """
                                .formatted(
                                        authority.issue("a.test").ref(),
                                        authority.issue("*.w.test").ref()))
                .start()) {
            if (served) {
                try (SSLSocket socket = connect(strict, "web", name)) {
                    assertThat(status(socket)).isEqualTo(200);
                }
            } else {
                assertThatThrownBy(() -> connect(strict, "web", name).close())
                        .isInstanceOf(SSLHandshakeException.class)
                        .hasMessageContaining("unrecognized_name");
            }
        }
    }

    /** Answers each connection by one response, over TLS with a certificate of its own. */
    private static SSLServerSocket upstream(CertificateAuthority.Issued issued) throws Exception {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(issued.bundle().toKeyManagerFactory().getKeyManagers(), null, null);
        SSLServerSocket server = (SSLServerSocket)
                context.getServerSocketFactory().createServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread thread = new Thread(
                () -> {
                    while (!server.isClosed()) {
                        try (Socket socket = server.accept()) {
                            socket.getInputStream().read(new byte[4096]);
                            socket.getOutputStream()
                                    .write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
                                            .getBytes(StandardCharsets.US_ASCII));
                        } catch (IOException e) {
                            // the gateway does not want it, or the test is over
                        }
                    }
                },
                "tls-upstream");
        thread.setDaemon(true);
        thread.start();
        return server;
    }

    @Test
    void anUpstreamIsKnownByItsAlternativeNamesOnly() throws Exception {
        record Case(CertificateAuthority.Issued issued, String name, int status) {}
        List<Case> cases = List.of(
                new Case(authority.issue("up.test"), "up.test", 200),
                new Case(authority.issue("*.up.test"), "a.up.test", 200),
                new Case(authority.issueWithoutAlternativeNames("up.test"), "up.test", 502),
                new Case(authority.issue("f*.up.test"), "foo.up.test", 502),
                new Case(authority.issue("*.up.test"), "a.b.up.test", 502),
                new Case(authority.issue("other.test"), "up.test", 502));
        for (Case each : cases) {
            try (SSLServerSocket server = upstream(each.issued);
                    GatewayJar proxy = GatewayJar.of(
                                    """
                                    listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                                    routes: [{rules: [{backendRefs: [{name: app}]}]}]
                                    upstreams:
                                      - name: app
                                        endpoints: [{host: 127.0.0.1, port: %d}]
                                        protocol: http1
                                        tls: {caFile: %s, serverName: %s}
                                    admin: {address: 127.0.0.1, port: 0}
                                    accessLog: {format: json, path: access.log}
                                    """
                                            .formatted(server.getLocalPort(), authority.file(), each.name))
                            .start();
                    Peer client = Peers.HTTP1.connect(proxy.port("web"))) {
                PeerStream stream = client.open();
                stream.send(Head.request("GET", "/"), true);
                assertThat(stream.receiveFinal().status()).as(each.toString()).isEqualTo(each.status);
                if (each.status == 502) {
                    Path log = proxy.directory().resolve("access.log");
                    proxy.await("a line of the access log", () -> log.toFile().length() > 0);
                    assertThat(Files.readString(log)).contains("tls_failed");
                }
            }
        }
    }

    @Test
    void aSettingThatTheTlsOfTheJdkCannotFollowIsTold() throws Exception {
        try (GatewayJar jdk = GatewayJar.of(
                        """
                        listeners:
                          - name: secure
                            address: 127.0.0.1
                            port: 0
                            protocol: HTTPS
                            tls: {selfSigned: true, selfSignedDirectory: tls, sessionTickets: false}
                        routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {statusCode: 200}}]}]}]
                        admin: {address: 127.0.0.1, port: 0}
                        """)
                .jvm("-Dio.netty.handler.ssl.noOpenSsl=true")
                .start()) {
            jdk.awaitLog("sessionTickets: false has no effect");
        }
    }
}
