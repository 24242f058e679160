package dev.gateway.tests.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.tests.peer.Behaviors;
import dev.gateway.tests.peer.CertificateAuthority;
import dev.gateway.tests.peer.CertificateAuthority.Issued;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that show a certificate are known by it; one that must and does not, or shows a wrong one, gets nothing. */
@Tag("platform")
class ClientCertificateIT {
    @TempDir
    Path directory;

    private CertificateAuthority servers;
    private CertificateAuthority clients;
    private CertificateAuthority others;
    private Origin origin;
    private Rig rig;

    @BeforeEach
    void start() throws Exception {
        servers = new CertificateAuthority("Servers", directory);
        clients = new CertificateAuthority("Clients", directory);
        others = new CertificateAuthority("Clients", directory); // of the same name, but another key
        origin = Origin.start().on("/", Behaviors.text("hello"));
    }

    @AfterEach
    void stop() throws Exception {
        rig.close();
        origin.close();
    }

    private void serve(String clientAuth) throws Exception {
        rig = Rig.start(
                """
                listeners:
                  - name: secure
                    address: 127.0.0.1
                    port: 0
                    protocol: HTTPS
                    tls: {certificateRefs: [%s], clientAuth: %s, caFile: %s}
                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}]}]
                accessLog: {format: json, path: access.log}
                admin: {address: 127.0.0.1, port: 0}
                """
                        .formatted(servers.issue("localhost").ref(), clientAuth, clients.file(), origin.port()));
    }

    private HttpResponse<String> get(@Nullable Issued identity, HttpClient.Version version, String tlsVersion)
            throws Exception {
        return get(servers.client(identity), version, tlsVersion);
    }

    private HttpResponse<String> get(SSLContext context, HttpClient.Version version, String tlsVersion)
            throws Exception {
        SSLParameters parameters = new SSLParameters();
        parameters.setProtocols(new String[] {tlsVersion});
        HttpRequest request = HttpRequest.newBuilder(rig.uri("secure", "/"))
                .timeout(Duration.ofMillis(Peer.PATIENCE_MILLIS))
                .build();
        return HttpClient.newBuilder()
                .sslContext(context)
                .sslParameters(parameters)
                .version(version)
                .build()
                .send(request, BodyHandlers.ofString());
    }

    @ParameterizedTest
    @CsvSource({
        "required, HTTP_1_1, TLSv1.2",
        "required, HTTP_1_1, TLSv1.3",
        "required, HTTP_2, TLSv1.3",
        "optional, HTTP_1_1, TLSv1.2",
        "optional, HTTP_2, TLSv1.2",
        "optional, HTTP_2, TLSv1.3",
    })
    void aClientIsKnownByItsCertificate(String clientAuth, HttpClient.Version version, String tlsVersion)
            throws Exception {
        serve(clientAuth);
        HttpResponse<String> response = get(clients.issue("alice"), version, tlsVersion);
        assertThat(response.body()).isEqualTo("hello");
        assertThat(response.version()).isEqualTo(version);
        assertThat(rig.awaitAccessLog(1).get(0)).contains("\"clientSubject\":\"CN=alice\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void aClientThatResumesIsStillKnown(String tlsVersion) throws Exception {
        serve("required");
        SSLContext alice = servers.client(clients.issue("alice"));
        for (int i = 0; i < 3; i++) {
            assertThat(get(alice, HttpClient.Version.HTTP_1_1, tlsVersion).statusCode())
                    .isEqualTo(200);
        }
        assertThat(rig.awaitAccessLog(3))
                .allSatisfy(line -> assertThat(line).contains("\"clientSubject\":\"CN=alice\""));
    }

    @ParameterizedTest
    @CsvSource({"HTTP_1_1, TLSv1.2", "HTTP_1_1, TLSv1.3", "HTTP_2, TLSv1.3"})
    void whereItIsOptionalAClientMayHaveNone(HttpClient.Version version, String tlsVersion) throws Exception {
        serve("optional");
        assertThat(get((Issued) null, version, tlsVersion).body()).isEqualTo("hello");
        assertThat(rig.awaitAccessLog(1).get(0)).doesNotContain("clientSubject");
    }

    @ParameterizedTest
    @CsvSource({
        "required, none, HTTP_1_1, TLSv1.2",
        "required, none, HTTP_1_1, TLSv1.3",
        "required, none, HTTP_2, TLSv1.3",
        "required, other, HTTP_1_1, TLSv1.2",
        "required, other, HTTP_2, TLSv1.3",
        "required, expired, HTTP_2, TLSv1.3",
        "optional, other, HTTP_1_1, TLSv1.2",
        "optional, other, HTTP_2, TLSv1.3",
        "optional, expired, HTTP_1_1, TLSv1.3",
    })
    void aClientWithoutARightCertificateGetsNothing(
            String clientAuth, String shown, HttpClient.Version version, String tlsVersion) throws Exception {
        serve(clientAuth);
        Issued identity =
                switch (shown) {
                    case "other" -> others.issue("alice");
                    case "expired" -> clients.issueExpired("alice");
                    default -> null;
                };
        assertThatThrownBy(() -> get(identity, version, tlsVersion)).isInstanceOf(IOException.class);
        assertThat(origin.requests("/")).isEmpty();
        rig.awaitNoConnection();
        assertThat(get(clients.issue("bob"), version, tlsVersion).statusCode()).isEqualTo(200); // served all the same
    }

    @ParameterizedTest
    @ValueSource(strings = {"--http1.1", "--http2"})
    void curlIsLetInWithTheRightCertificateOnly(String option) throws Exception {
        serve("required");
        Issued alice = clients.issue("alice");
        Issued mallory = others.issue("alice");
        assertThat(curl(option).output()).doesNotContain("hello");
        assertThat(curl(option, "--cert", mallory.certFile().toString(), "--key", "" + mallory.keyFile())
                        .output())
                .doesNotContain("hello");
        assertThat(curl(option, "--cert", alice.certFile().toString(), "--key", "" + alice.keyFile())
                        .output())
                .isEqualTo("hello");
        assertThat(rig.awaitAccessLog(1).get(0)).contains("\"clientSubject\":\"CN=alice\"");
        assertThat(origin.requests("/")).hasSize(1);
    }

    private Tools.Result curl(String... options) throws Exception {
        List<String> command =
                new ArrayList<>(List.of(Tools.find("curl"), "-sS", "--max-time", "20", "--noproxy", "*"));
        command.addAll(List.of("--cacert", servers.file().toString()));
        command.addAll(List.of(options));
        command.add(rig.uri("secure", "/").toString());
        return Tools.run(30, command);
    }
}
