package dev.gateway.tests.tls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.CertificateAuthority;
import dev.gateway.tests.peer.CertificateAuthority.Issued;
import dev.gateway.tests.support.GatewayJar;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client certificate that has expired or was revoked lets nobody in, also not by a session that is resumed. */
@Tag("jar")
@Timeout(120)
class ClientCertificateEndIT {
    @TempDir
    Path directory;

    private CertificateAuthority servers;
    private CertificateAuthority clients;

    @BeforeEach
    void issue() throws Exception {
        servers = new CertificateAuthority("Servers", directory);
        clients = new CertificateAuthority("Clients", directory);
    }

    private GatewayJar start(String more) throws Exception {
        return GatewayJar.of(
                        """
                        listeners:
                          - name: secure
                            address: 127.0.0.1
                            port: 0
                            protocol: HTTPS
                            tls: {certificateRefs: [%s], clientAuth: required, caFile: %s%s}
                        routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {body: hello}}]}]}]
                        admin: {port: 0}
                        accessLog: {format: off}
                        """
                                .formatted(servers.issue("localhost").ref(), clients.file(), more))
                .start();
    }

    private static SSLSocket connect(GatewayJar gateway, SSLContext context, String version) throws IOException {
        int port = gateway.port("secure");
        Socket plain = new Socket(InetAddress.getLoopbackAddress(), port);
        SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(plain, "localhost", port, true);
        socket.setEnabledProtocols(new String[] {version});
        return socket;
    }

    private static String get(SSLSocket socket) {
        try {
            socket.getOutputStream()
                    .write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
        } catch (IOException e) {
            return "refused";
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void anExpiredCertificateDoesNotLiveOnInASession(String version) throws Exception {
        try (GatewayJar gateway = start("")) {
            Instant end = Instant.now().plusSeconds(6);
            SSLContext context = servers.client(clients.issueUntil("alice", end));
            for (int i = 0; i < 2; i++) { // the second one resumes
                try (SSLSocket socket = connect(gateway, context, version)) {
                    assertThat(get(socket)).isEqualTo("HTTP/1.1 200");
                }
            }
            while (Instant.now().isBefore(end.plusSeconds(1))) { // the certificate's own time
                LockSupport.parkNanos(50_000_000);
            }
            try (SSLSocket socket = connect(gateway, context, version)) {
                assertThat(get(socket)).isNotEqualTo("HTTP/1.1 200");
            }
        }
    }

    @Test
    void anOpenConnectionEndsWhenItsCertificateExpires() throws Exception {
        try (GatewayJar gateway = start("")) {
            SSLContext asAlice =
                    servers.client(clients.issueUntil("alice", Instant.now().plusSeconds(5)));
            SSLContext asBob = servers.client(clients.issue("bob"));
            try (SSLSocket alice = connect(gateway, asAlice, "TLSv1.3");
                    SSLSocket bob = connect(gateway, asBob, "TLSv1.3")) {
                assertThat(get(alice)).isEqualTo("HTTP/1.1 200");
                assertThat(get(bob)).isEqualTo("HTTP/1.1 200");
                alice.setSoTimeout(30_000); // less than a connection is kept idle
                alice.getInputStream().readAllBytes();
                readBody(bob);
                assertThat(get(bob)).isEqualTo("HTTP/1.1 200");
            }
        }
    }

    /** Reads up to the end of the answer's body. */
    private static void readBody(SSLSocket socket) throws IOException {
        StringBuilder answer = new StringBuilder();
        while (!answer.toString().endsWith("hello")) {
            answer.append((char) socket.getInputStream().read());
        }
    }

    /** A client that hides the certificate of its issuer gains nothing. */
    @Test
    void anAuthorityThatIsRevokedIsNotTrusted() throws Exception {
        Issued issuer = clients.issueAuthority("Issuer");
        Files.writeString(clients.file(), issuer.bundle().getCertificatePEM(), StandardOpenOption.APPEND);
        Path list = Files.writeString(directory.resolve("revoked.crl"), clients.revoke());
        SSLContext asAlice = servers.client(clients.issueBy(issuer, "alice", false));
        SSLContext asAliceWithIssuer = servers.client(clients.issueBy(issuer, "alice", true));
        SSLContext asBob = servers.client(clients.issue("bob"));
        try (GatewayJar gateway = start(", crlFile: " + list)) {
            for (SSLContext each : List.of(asAlice, asAliceWithIssuer, asBob)) {
                try (SSLSocket socket = connect(gateway, each, "TLSv1.3")) {
                    assertThat(get(socket)).isEqualTo("HTTP/1.1 200");
                }
            }
            Files.writeString(list, clients.revoke(issuer));
            gateway.awaitLog("Loaded new certificates for listener secure");
            for (SSLContext each : List.of(asAlice, asAliceWithIssuer)) {
                try (SSLSocket socket = connect(gateway, each, "TLSv1.3")) {
                    assertThat(get(socket)).isNotEqualTo("HTTP/1.1 200");
                }
            }
            try (SSLSocket socket = connect(gateway, asBob, "TLSv1.3")) {
                assertThat(get(socket)).isEqualTo("HTTP/1.1 200");
            }
        }
    }

    /** A session is resumed for {@code sessionTimeout} at most, and for two thirds of it at least. */
    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void aSessionIsNotResumedForLongerThanItMay(String version) throws Exception {
        try (GatewayJar gateway = start(", sessionTimeout: 6s")) {
            SSLContext context = servers.client(clients.issue("alice"));
            long begun = System.nanoTime();
            long first = created(gateway, context, version);
            long second = created(gateway, context, version);
            if (System.nanoTime() - begun
                    < TimeUnit.SECONDS.toNanos(4)) { // else this machine has taken too long to tell
                assertThat(second).as("resumed").isEqualTo(first);
            }
            long last = System.nanoTime();
            while (System.nanoTime() - last < TimeUnit.MILLISECONDS.toNanos(6_100)) { // the session's own time
                LockSupport.parkNanos(50_000_000);
            }
            assertThat(created(gateway, context, version)).as("made anew").isNotEqualTo(first);
        }
    }

    /** Returns when the session of a new connection was made, which is earlier if it resumes one. */
    private static long created(GatewayJar gateway, SSLContext context, String version) throws IOException {
        try (SSLSocket socket = connect(gateway, context, version)) {
            assertThat(get(socket)).isEqualTo("HTTP/1.1 200");
            return socket.getSession().getCreationTime();
        }
    }

    @Test
    void aRevokedCertificateIsRefusedOnceTheListHasChanged() throws Exception {
        Issued alice = clients.issue("alice");
        Issued bob = clients.issue("bob");
        Path list = Files.writeString(directory.resolve("revoked.crl"), clients.revoke());
        try (GatewayJar gateway = start(", crlFile: " + list + ", clientCaChange: close")) {
            SSLContext asAlice = servers.client(alice);
            SSLContext asBob = servers.client(bob);
            try (SSLSocket open = connect(gateway, asAlice, "TLSv1.3")) {
                assertThat(get(open)).isEqualTo("HTTP/1.1 200");
                Files.writeString(list, clients.revoke(alice));
                gateway.awaitLog("Loaded new certificates for listener secure");
                gateway.awaitLog("verifies client certificates otherwise now");
                open.getInputStream().readAllBytes(); // the connection ends
            }
            try (SSLSocket socket = connect(gateway, asAlice, "TLSv1.3")) {
                assertThat(get(socket)).isNotEqualTo("HTTP/1.1 200");
            }
            try (SSLSocket socket = connect(gateway, asBob, "TLSv1.3")) {
                assertThat(get(socket)).isEqualTo("HTTP/1.1 200");
            }
        }
    }
}
