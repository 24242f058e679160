package dev.gateway.tests.reload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.CertificateAuthority;
import dev.gateway.tests.peer.CertificateAuthority.Issued;
import dev.gateway.tests.support.GatewayJar;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Files that the configuration names and that cannot be used: the log tells where they are named, and what is wrong. */
@Tag("jar")
@Timeout(120)
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class FileFaultsIT {
    private static final String CONFIG =
            """
            listeners:
              - name: secure
                address: 127.0.0.1
                port: 0
                protocol: HTTPS
                tls: {certificateRefs: [{certFile: %s, keyFile: %s}]}
            routes: [{rules: [{backendRefs: [{name: app}]}]}]
            upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 1}]}]
            admin: {address: 127.0.0.1, port: 0}
            accessLog: {path: %s}
            """;

    @TempDir
    Path directory;

    @Test
    void theReasonIsToldWithThePlace() throws Exception {
        Issued issued = new CertificateAuthority("Test CA", directory).issue("localhost");
        try (GatewayJar gateway = GatewayJar.of(
                        CONFIG.formatted(issued.certFile(), issued.keyFile(), directory.resolve("access.log")))
                .start()) {
            Path log = directory.resolve("none/access.log");
            Files.writeString(
                    gateway.directory().resolve("gateway.yaml"),
                    CONFIG.formatted(issued.certFile(), issued.keyFile(), log));
            assertThat(gateway.post("/reload").body())
                    .contains("gateway.yaml:10:12: cannot write " + log + ": there is no directory " + log.getParent());

            Files.delete(issued.certFile());
            gateway.awaitLog("gateway.yaml:6:10: listener secure: keeping the previous certificates: there is no file "
                    + issued.certFile());
        }
    }
}
