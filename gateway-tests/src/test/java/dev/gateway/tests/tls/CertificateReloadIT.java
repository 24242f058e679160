package dev.gateway.tests.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.CertificateAuthority;
import dev.gateway.tests.peer.CertificateAuthority.Issued;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Http1Peer;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Rig;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Certificates, keys and CAs that are replaced while the gateway serves. */
@Timeout(120)
@Tag("platform")
class CertificateReloadIT {
    private static final String NAME = "shop.test";

    @TempDir
    private Path directory;

    private CertificateAuthority authority;

    @BeforeEach
    void found() throws Exception {
        authority = new CertificateAuthority("Test CA", directory);
    }

    private Rig secure(Origin origin, Path certFile, Path keyFile) throws IOException {
        return Rig.start(
                """
                listeners:
                  - name: secure
                    address: 127.0.0.1
                    port: 0
                    protocol: HTTPS
                    tls: {certificateRefs: [{certFile: %s, keyFile: %s}]}
                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                admin: {port: 0}
                accessLog: {format: "off"}
                """
                        .formatted(certFile, keyFile, origin.port()));
    }

    private static void copy(Issued from, Path certFile, Path keyFile) throws IOException {
        Files.copy(from.keyFile(), keyFile, StandardCopyOption.REPLACE_EXISTING);
        Files.copy(from.certFile(), certFile, StandardCopyOption.REPLACE_EXISTING);
    }

    private static double end(Issued issued) {
        return issued.bundle().getCertificate().getNotAfter().toInstant().getEpochSecond();
    }

    private static X509Certificate shown(SSLSocket socket) throws IOException {
        return (X509Certificate) socket.getSession().getPeerCertificates()[0];
    }

    private void awaitShown(Rig rig, Issued wanted) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
        while (true) {
            try (SSLSocket socket = authority.connect(rig.tlsPort(), NAME)) {
                if (shown(socket).equals(wanted.bundle().getCertificate())) {
                    return;
                }
            }
            assertThat(System.nanoTime()).as("another certificate is shown").isLessThan(deadline);
            LockSupport.parkNanos(20_000_000);
        }
    }

    private static void exchange(Peer client) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/"), true);
        assertThat(stream.receiveFinal().status()).isEqualTo(200);
        assertThat(stream.receiveBody()).isEqualTo("ok");
    }

    @Test
    void newHandshakesSeeTheNewCertificateAndOldConnectionsLive() throws Exception {
        Path certFile = directory.resolve("tls.crt");
        Path keyFile = directory.resolve("tls.key");
        Issued first = authority.issue(NAME);
        copy(first, certFile, keyFile);
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = secure(origin, certFile, keyFile);
                SSLSocket socket = authority.connect(rig.tlsPort(), NAME)) {
            Peer kept = new Http1Peer(socket, new BufferedInputStream(socket.getInputStream()), true);
            exchange(kept);
            assertThat(shown(socket)).isEqualTo(first.bundle().getCertificate());
            assertThat(rig.metric("gateway_certificate_not_after_seconds", "name=\"" + NAME + "\""))
                    .isEqualTo(end(first));

            Issued second = authority.issue(NAME);
            copy(second, certFile, keyFile);
            awaitShown(rig, second);
            exchange(kept);
            assertThat(rig.metric("gateway_config_generation")).isEqualTo(1); // nothing else has changed
            assertThat(rig.metric("gateway_certificate_not_after_seconds", "listener=\"secure\""))
                    .isEqualTo(end(second));
        }
    }

    /** As Kubernetes updates a mounted Secret; the configuration's own file is broken by then. */
    @Test
    void aSecretThatIsSwappedIsReadWhateverTheConfigurationIsLike() throws Exception {
        Issued first = authority.issue(NAME);
        Issued second = authority.issue(NAME);
        Path mount = Files.createDirectory(directory.resolve("mount"));
        copy(first, Files.createDirectory(mount.resolve("..1")).resolve("tls.crt"), mount.resolve("..1/tls.key"));
        copy(second, Files.createDirectory(mount.resolve("..2")).resolve("tls.crt"), mount.resolve("..2/tls.key"));
        Files.createSymbolicLink(mount.resolve("..data"), Path.of("..1"));
        Path certFile = Files.createSymbolicLink(mount.resolve("tls.crt"), Path.of("..data/tls.crt"));
        Path keyFile = Files.createSymbolicLink(mount.resolve("tls.key"), Path.of("..data/tls.key"));
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = secure(origin, certFile, keyFile)) {
            awaitShown(rig, first);
            Files.writeString(rig.file(), "broken: true\n");
            assertThat(rig.post("/reload").statusCode()).isEqualTo(422);
            Files.createSymbolicLink(mount.resolve("..tmp"), Path.of("..2"));
            Files.move(mount.resolve("..tmp"), mount.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);
            awaitShown(rig, second);
        }
    }

    @Test
    void aCertificateThatDoesNotFitItsKeyIsNotUsedUntilItDoes() throws Exception {
        Path certFile = directory.resolve("tls.crt");
        Path keyFile = directory.resolve("tls.key");
        Issued first = authority.issue(NAME);
        Issued second = authority.issue(NAME);
        copy(first, certFile, keyFile);
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = secure(origin, certFile, keyFile)) {
            Files.copy(second.certFile(), certFile, StandardCopyOption.REPLACE_EXISTING);
            String ready = rig.admin("/ready");
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
            while (ready.equals("ready\n")) {
                assertThat(System.nanoTime()).isLessThan(deadline);
                LockSupport.parkNanos(20_000_000);
                ready = rig.admin("/ready");
            }
            assertThat(ready)
                    .startsWith("ready\n" + rig.file() + ":")
                    .contains("listener secure: keeping the previous certificates", keyFile.toString());
            assertThat(rig.adminResponse("/ready").statusCode()).isEqualTo(200);
            awaitShown(rig, first);

            Files.copy(second.keyFile(), keyFile, StandardCopyOption.REPLACE_EXISTING);
            awaitShown(rig, second);
            assertThat(rig.admin("/ready")).isEqualTo("ready\n");
        }
    }

    @Test
    void aReloadReadsCertificatesThatHaveChangedAtOnce() throws Exception {
        Path certFile = directory.resolve("tls.crt");
        Path keyFile = directory.resolve("tls.key");
        copy(authority.issue(NAME), certFile, keyFile);
        try (Origin origin = Origin.start().on("/", Behaviors.text("ok"));
                Rig rig = secure(origin, certFile, keyFile)) {
            Issued second = authority.issue(NAME);
            copy(second, certFile, keyFile);
            assertThat(rig.post("/reload").statusCode()).isEqualTo(200);
            try (SSLSocket socket = authority.connect(rig.tlsPort(), NAME)) {
                assertThat(shown(socket)).isEqualTo(second.bundle().getCertificate());
            }
        }
    }

    @Test
    void newConnectionsToAnUpstreamAreVerifiedByTheNewCa() throws Exception {
        Path caFile = directory.resolve("upstream-ca.pem");
        Files.copy(authority.file(), caFile);
        try (Origin origin = Origin.startTls().on("/", Behaviors.text("ok"));
                Rig rig = Rig.to("localhost", origin.port())
                        .upstreamProtocol("auto")
                        .upstream("tls: {caFile: " + caFile + "}")
                        .start();
                Peer client = rig.connect(Peers.HTTP1)) {
            assertThat(status(client)).isEqualTo(502);
            origin.writeCertificate(caFile);
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Peer.PATIENCE_MILLIS);
            while (status(client) != 200) {
                assertThat(System.nanoTime()).as("the new CA is used").isLessThan(deadline);
                LockSupport.parkNanos(20_000_000);
            }
            Files.writeString(caFile, "not a certificate");
            String ready = rig.admin("/ready");
            while (!ready.contains("upstream app: keeping the previous certificates")) {
                assertThat(System.nanoTime()).as(ready).isLessThan(deadline);
                LockSupport.parkNanos(20_000_000);
                ready = rig.admin("/ready");
            }
            assertThat(status(client)).isEqualTo(200);
        }
    }

    @Test
    void theEndOfACertificateShownToAnUpstreamIsTold() throws Exception {
        Path certFile = directory.resolve("client.crt");
        Path keyFile = directory.resolve("client.key");
        Issued first = authority.issue("client.test");
        copy(first, certFile, keyFile);
        try (Rig rig = Rig.to(1)
                .upstream("tls: {certFile: " + certFile + ", keyFile: " + keyFile + "}")
                .start()) {
            String[] labels = {"upstream=\"app\"", "name=\"client.test\""};
            assertThat(rig.metric("gateway_certificate_not_after_seconds", labels))
                    .isEqualTo(end(first));
            Issued second = authority.issue("client.test");
            copy(second, certFile, keyFile);
            rig.awaitMetric(end(second), "gateway_certificate_not_after_seconds", labels);
        }
    }

    private static int status(Peer client) throws IOException {
        PeerStream stream = client.open();
        stream.send(Head.request("GET", "/"), true);
        int status = stream.receiveFinal().status();
        stream.receiveBody();
        return status;
    }
}
