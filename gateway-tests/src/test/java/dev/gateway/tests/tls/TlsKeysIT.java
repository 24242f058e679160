package dev.gateway.tests.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.CertificateAuthority;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.support.Rig;
import java.io.BufferedInputStream;
import java.nio.file.Path;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Versions and cipher suites of a listener, as its {@code tls} section says. */
@Tag("platform")
@Timeout(60)
class TlsKeysIT {
    @TempDir
    static Path directory;

    /** Returns what was agreed, as {@code VERSION SUITE}, after an exchange; fails if there was no handshake. */
    private static String agreed(String keys, String version, @Nullable String suite) throws Exception {
        CertificateAuthority authority = new CertificateAuthority("Test CA", directory);
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = Rig.start(
                        """
                        listeners:
                          - name: secure
                            address: 127.0.0.1
                            port: 0
                            protocol: HTTPS
                            tls: {certificateRefs: [%s]%s}
                        routes: [{rules: [{backendRefs: [{name: app}]}]}]
                        upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                        accessLog: {format: off}
                        """
                                .formatted(authority.issue("localhost").ref(), keys, origin.port()));
                SSLSocket socket = connect(authority, rig.tlsPort(), version, suite)) {
            PeerStream stream = new Http1Peer(socket, new BufferedInputStream(socket.getInputStream()), true).open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(200);
            assertThat(stream.receiveBody()).isEqualTo("ok");
            return socket.getSession().getProtocol() + " " + socket.getSession().getCipherSuite();
        }
    }

    private static SSLSocket connect(CertificateAuthority authority, int port, String version, @Nullable String suite)
            throws Exception {
        SSLSocket socket = (SSLSocket) authority.client(null).getSocketFactory().createSocket("localhost", port);
        socket.setSoTimeout(20_000);
        socket.setEnabledProtocols(new String[] {version});
        if (suite != null) {
            socket.setEnabledCipherSuites(new String[] {suite});
        }
        try {
            socket.startHandshake();
        } catch (Exception e) {
            socket.close();
            throw e;
        }
        return socket;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                " | TLSv1.2 | ",
                " | TLSv1.3 | ",
                ", minVersion: TLSv1.3 | TLSv1.3 | ",
                ", maxVersion: TLSv1.2 | TLSv1.2 | ",
                ", ciphers: [ECDHE-ECDSA-AES256-GCM-SHA384] | TLSv1.2 | TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
                ", ciphers: [TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384] | TLSv1.2 | TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
            })
    void whatTheKeysAllowIsAgreed(@Nullable String keys, String version, @Nullable String suite) throws Exception {
        assertThat(agreed(keys == null ? "" : keys, version, null))
                .startsWith(version + " ")
                .endsWith(suite == null ? "" : suite);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                ", minVersion: TLSv1.3 | TLSv1.2 | ",
                ", maxVersion: TLSv1.2 | TLSv1.3 | ",
                ", maxVersion: TLSv1.2, ciphers: [ECDHE-ECDSA-AES256-GCM-SHA384] | TLSv1.2 | TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
            })
    void whatTheyDoNotAllowEndsTheHandshake(String keys, String version, @Nullable String suite) {
        assertThatThrownBy(() -> agreed(keys, version, suite)).isInstanceOf(SSLException.class);
    }
}
