package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.CertificateAuthority;
import dev.gateway.tests.peer.CertificateAuthority.Issued;
import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.CrossPairingTest;
import dev.gateway.tests.support.Pairing;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Only clients whose certificate has an allowed name use a route; the upstream gets the certificate from nobody else. */
@Tag("platform")
@Timeout(120)
@SuppressWarnings("NullAway.Init") // the directory and authorities, which JUnit sets
class ClientCertificateFilterIT {
    private static final String CART = "spiffe://example.org/ns/shop/sa/cart";

    @TempDir
    Path directory;

    private CertificateAuthority servers;
    private CertificateAuthority clients;
    private Issued server;

    @BeforeEach
    void start() throws Exception {
        servers = new CertificateAuthority("Servers", directory);
        clients = new CertificateAuthority("Clients", directory);
        server = servers.issue("localhost");
    }

    /** Answers with all fields that say what the client's certificate is, in any spelling, also those of the trailers. */
    private static Origin origin() throws IOException {
        return Origin.start().otherwise((stream, head) -> {
            stream.receiveBody();
            List<Map.Entry<String, String>> fields = new ArrayList<>(head.fields());
            fields.addAll(stream.trailers());
            String told = fields.stream()
                    .filter(field -> isOfCertificate(field.getKey()))
                    .map(field -> field.getKey().toLowerCase(Locale.ROOT) + "=" + field.getValue())
                    .collect(Collectors.joining("|"));
            stream.send(Head.response(200), false);
            stream.send(told, true);
        });
    }

    private static boolean isOfCertificate(String name) {
        return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z]", "").startsWith("clientcert");
    }

    private String yaml(Origin origin, Pairing pairing, String listener, String filter) {
        return """
                listeners:
                  - name: secure
                    address: 127.0.0.1
                    port: 0
                    protocol: HTTPS
                    headersWithUnderscores: allow
                    tls: {certificateRefs: [%s], clientAuth: optional, caFile: %s}
                %s
                routes:
                  - name: open
                    rules: [{matches: [{path: {value: /open}}], backendRefs: [{name: app}]}]
                  - name: shop
                    rules:
                      - name: all
                        filters: [{type: ClientCertificate, clientCertificate: {%s}}]
                        backendRefs: [{name: app}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: %d}], protocol: %s}]
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {path: access.log}
                """
                .formatted(
                        server.ref(),
                        clients.file(),
                        listener.isEmpty() ? "" : "    " + listener,
                        filter,
                        origin.port(),
                        pairing.upstream);
    }

    private Peer connect(Rig rig, Pairing pairing, @Nullable Issued identity) throws Exception {
        Peers peers = pairing.client == Peers.HTTP1 ? Peers.HTTP1_TLS : Peers.H2_TLS;
        return peers.connect(rig.tlsPort(), servers.client(identity));
    }

    /** A request with all that a client may try. */
    private record Answer(int status, String body, String proxyStatus) {}

    private static Answer ask(Peer client, Pairing pairing, String path) throws IOException {
        List<String> fields = new ArrayList<>(List.of("te", "trailers", "client-cert-chain", ":AA==:"));
        for (String name :
                List.of("client-cert", "client_cert", "client.cert", "client_cert_chain", "client-cert~chain")) {
            fields.addAll(List.of(name, ":AA==:"));
        }
        if (pairing.client == Peers.HTTP1) {
            fields.addAll(List.of("CLIENT-CERT", ":AA==:", "connection", "client-cert, te"));
            fields.addAll(List.of("transfer-encoding", "chunked"));
        }
        PeerStream stream = client.open();
        stream.send(Head.request("POST", path, fields.toArray(String[]::new)), false);
        stream.sendTrailers("client-cert", ":AA==:", "client_cert_chain", ":AA==:");
        Head response = stream.receiveFinal();
        String body = stream.receiveBody();
        return new Answer(
                response.status(),
                response.status() == 200 ? body : "",
                response.get("proxy-status").orElse(""));
    }

    private static String field(X509Certificate certificate) throws Exception {
        return ":" + Base64.getEncoder().encodeToString(certificate.getEncoded()) + ":";
    }

    private static Answer forwarded(Issued identity) throws Exception {
        X509Certificate[] chain = identity.bundle().getCertificatePath();
        String told = "client-cert=" + field(chain[0]);
        return new Answer(200, chain.length > 1 ? told + "|client-cert-chain=" + field(chain[1]) : told, "");
    }

    private static void assertRefused(Answer answer) {
        assertThat(answer.status()).isEqualTo(403);
        assertThat(answer.proxyStatus()).contains("authz_denied").doesNotContain("spiffe");
    }

    @ParameterizedTest
    @EnumSource
    void onlyClientsWithAnAllowedNameReachTheUpstream(Pairing pairing) throws Exception {
        Issued cart = clients.issueFor("cart", "URI:" + CART, "DNS:cart.internal");
        Issued billing = clients.issueByIntermediate("billing.internal", true);
        Issued pay = clients.issueFor("pay", "URI:spiffe://example.org/ns/pay/sa/pay", "DNS:pay.internal");
        String filter = "forward: [certificate, chain], allow:"
                + " [{uri: \"spiffe://example.org/ns/shop/*\"}, {dns: billing.internal}]";
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing, "", filter));
                Peer ofCart = connect(rig, pairing, cart);
                Peer ofBilling = connect(rig, pairing, billing);
                Peer ofPay = connect(rig, pairing, pay);
                Peer ofNobody = connect(rig, pairing, null)) {
            assertThat(ask(ofCart, pairing, "/")).isEqualTo(forwarded(cart));
            assertThat(ask(ofCart, pairing, "/")).isEqualTo(forwarded(cart)); // again, on the same connection
            assertThat(ask(ofBilling, pairing, "/")).isEqualTo(forwarded(billing));
            assertThat(origin.requests("/")).hasSize(3);
            assertRefused(ask(ofPay, pairing, "/"));
            assertRefused(ask(ofNobody, pairing, "/"));
            assertThat(origin.requests("/")).hasSize(3);
            assertThat(rig.awaitAccessLog(5))
                    .anySatisfy(line -> assertThat(line).contains("\"identity\":\"" + CART + "\"", "\"status\":200"))
                    .anySatisfy(
                            line -> assertThat(line).contains("\"identity\":\"billing.internal\"", "\"status\":200"))
                    .anySatisfy(line -> assertThat(line)
                            .contains(
                                    "client certificate of spiffe://example.org/ns/pay/sa/pay is not among those allowed",
                                    "\"cause\":\"authz_denied\"",
                                    "\"status\":403"))
                    .anySatisfy(line -> assertThat(line).contains("no client certificate", "\"status\":403"));
            rig.awaitMetric(
                    2,
                    "gateway_downstream_requests_total",
                    "route=\"shop/all\"",
                    "code=\"403\"",
                    "cause=\"authz_denied\"");
        }
    }

    /** Upstreams believe these fields, whatever the route. */
    @CrossPairingTest
    void nobodyElseSaysWhatTheCertificateIs(Pairing pairing) throws Exception {
        Issued cart = clients.issueFor("cart", "URI:" + CART);
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing, "", "required: false, forward: [certificate]"));
                Peer known = connect(rig, pairing, cart);
                Peer unknown = connect(rig, pairing, null)) {
            Answer nothing = new Answer(200, "", "");
            assertThat(ask(known, pairing, "/")).isEqualTo(forwarded(cart));
            assertThat(ask(unknown, pairing, "/")).isEqualTo(nothing);
            assertThat(ask(known, pairing, "/open")).isEqualTo(nothing);
            assertThat(ask(unknown, pairing, "/open")).isEqualTo(nothing);
        }
    }

    /** A proxy that ends TLS itself may tell of its clients' certificates, but not where the gateway does. */
    @CrossPairingTest
    void aTrustedProxySaysItWhereTheGatewayDoesNot(Pairing pairing) throws Exception {
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing, "trustedProxies: [127.0.0.1]", "required: false"));
                Peer proxy = connect(rig, pairing, null)) {
            assertThat(ask(proxy, pairing, "/")).isEqualTo(new Answer(200, "", ""));
            assertThat(ask(proxy, pairing, "/open").body()).contains("client-cert-chain=:AA==:");
        }
    }

    @CrossPairingTest
    void aReloadDecidesAnewOfOpenConnections(Pairing pairing) throws Exception {
        Issued cart = clients.issueFor("cart", "URI:" + CART, "DNS:cart.internal");
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing, "", "allow: [{uri: \"" + CART + "\"}]"));
                Peer client = connect(rig, pairing, cart)) {
            Answer nothing = new Answer(200, "", "");
            assertThat(ask(client, pairing, "/")).isEqualTo(nothing);
            rig.reload(yaml(origin, pairing, "", "allow: [{dns: pay.internal}]"));
            PeerStream stream = client.open();
            stream.send(Head.request("GET", "/"), true);
            assertThat(stream.receiveFinal().status()).isEqualTo(403);
            stream.receiveBody();
            rig.reload(yaml(origin, pairing, "", "allow: [{dns: cart.internal}], forward: [certificate]"));
            assertThat(ask(client, pairing, "/")).isEqualTo(forwarded(cart));
            assertThat(rig.awaitAccessLog(3))
                    .anySatisfy(line -> assertThat(line).contains("\"identity\":\"" + CART + "\""))
                    .anySatisfy(line -> assertThat(line).contains("\"identity\":\"cart.internal\""));
        }
    }

    @ParameterizedTest
    @CsvSource({"HTTP_1_1, TLSv1.2", "HTTP_1_1, TLSv1.3", "HTTP_2, TLSv1.2", "HTTP_2, TLSv1.3"})
    void aClientThatResumesHasItsCertificate(HttpClient.Version version, String tlsVersion) throws Exception {
        Issued billing = clients.issueByIntermediate("billing.internal", true);
        SSLContext context = servers.client(billing); // which keeps what it needs to resume
        SSLParameters parameters = new SSLParameters();
        parameters.setProtocols(new String[] {tlsVersion});
        String filter = "forward: [certificate, chain], allow: [{dns: billing.internal}]";
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, Pairing.H1_TO_H1, "", filter))) {
            Set<Long> handshakes = new HashSet<>();
            for (int i = 0; i < 3; i++) {
                HttpRequest request = HttpRequest.newBuilder(rig.uri("secure", "/"))
                        .timeout(Duration.ofMillis(Peer.PATIENCE_MILLIS))
                        .build();
                HttpResponse<String> response = HttpClient.newBuilder()
                        .sslContext(context)
                        .sslParameters(parameters)
                        .version(version)
                        .build()
                        .send(request, BodyHandlers.ofString());
                assertThat(response.body()).isEqualTo(forwarded(billing).body());
                handshakes.add(response.sslSession().orElseThrow().getCreationTime());
            }
            assertThat(handshakes).hasSize(1);
            assertThat(rig.awaitAccessLog(3))
                    .allSatisfy(line -> assertThat(line).contains("\"identity\":\"billing.internal\""));
        }
    }

    @CrossPairingTest
    void aCertificateThatIsTooLargeIsNotLeftOut(Pairing pairing) throws Exception {
        String[] names = new String[90];
        Arrays.setAll(names, i -> "DNS:a-name-of-some-length-" + i + ".internal");
        Issued large = clients.issueFor("large", names);
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing, "", "forward: [certificate], maxForwardedSize: 1KiB"));
                Peer client = connect(rig, pairing, large)) {
            assertRefused(ask(client, pairing, "/"));
            assertThat(rig.awaitAccessLog(1).get(0)).contains("(maxForwardedSize)");
        }
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, pairing, "", "forward: [certificate]"));
                Peer client = connect(rig, pairing, large)) {
            assertThat(ask(client, pairing, "/")).isEqualTo(forwarded(large));
        }
    }

    @ParameterizedTest
    @CsvSource({"--http1.1", "--http2"})
    void curlShowsItsCertificate(String option) throws Exception {
        Issued cart = clients.issueFor("cart", "URI:" + CART);
        String filter = "forward: [certificate], allow: [{uri: \"" + CART + "\"}]";
        try (Origin origin = origin();
                Rig rig = Rig.start(yaml(origin, Pairing.H1_TO_H1, "", filter))) {
            assertThat(curl(rig, option, "--cert", "" + cart.certFile(), "--key", "" + cart.keyFile()))
                    .isEqualTo(forwarded(cart).body() + " 200");
            assertThat(curl(rig, option)).endsWith(" 403").doesNotContain("client-cert");
        }
    }

    private String curl(Rig rig, String... more) throws Exception {
        List<String> command =
                new ArrayList<>(List.of(Tools.find("curl"), "-sS", "--max-time", "20", "--noproxy", "*"));
        command.addAll(
                List.of("--cacert", servers.file().toString(), "-H", "Client-Cert: :AA==:", "-w", " %{http_code}"));
        command.addAll(List.of(more));
        command.add(rig.uri("secure", "/").toString());
        Tools.Result result = Tools.run(30, command);
        assertThat(result.exit()).as(result.output()).isZero();
        return result.output();
    }
}
