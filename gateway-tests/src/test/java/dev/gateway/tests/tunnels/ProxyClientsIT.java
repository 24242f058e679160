package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.NameServer;
import dev.gateway.tests.support.Browser;
import dev.gateway.tests.support.NginxServer;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.io.InputStream;
import java.net.Authenticator;
import java.net.InetSocketAddress;
import java.net.PasswordAuthentication;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The clients that people really use, each fetching from a real TLS server (nginx, as {@code origin.test}) through the
 * gateway as their CONNECT proxy, verifying the server's certificate; and each way of authenticating.
 */
class ProxyClientsIT {
    private static final String USER = "ci";
    private static final String PASSWORD = "open sesame";
    // htpasswd -nbB ci 'open sesame'
    private static final String USERS = "ci:$2y$05$1DhSB3tTa3YyQEju15o8ZuZjohezLD3w.L0raBv0Chu4AhUgnmuDe\n";
    private static final String EXPECTED = "GET HTTP/1.1 via= for=";
    private static final String EXPECTED_H2 = "GET HTTP/2.0 via= for=";

    @TempDir
    static Path directory;

    private static NginxServer nginx;
    private static NameServer dns;
    private static Rig rig;

    @BeforeAll
    static void start() throws Exception {
        nginx = NginxServer.start(new byte[100_000]);
        dns = new NameServer().answers("origin.test", "127.0.0.1");
        Files.writeString(directory.resolve("users"), USERS);
        rig = Rig.start(
                """
                listeners:
                  - {name: open, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: closed, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: %1$s/tls}}
                  # Go's client offers h2 to an HTTPS proxy and then does not speak it.
                  - {name: classic, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: %1$s/tls, alpn: [http/1.1]}}
                connect:
                  - name: open
                    parentRefs: [{name: open}, {name: secure}, {name: classic}]
                    allow: [origin.test]
                    allowedPorts: [%2$d, %3$d]
                    trustedDestinations: [127.0.0.0/8]
                    sni: off
                  - name: closed
                    parentRefs: [{name: closed}]
                    allow: [origin.test]
                    allowedPorts: [%2$d]
                    trustedDestinations: [127.0.0.0/8]
                    sni: mustMatch
                    auth: {basic: {usersFile: %1$s/users}}
                    timeouts: {idle: 3s}      # the JDK's client keeps its tunnel
                resolver: {nameServers: ["127.0.0.1:%4$d"]}
                admin: {address: 127.0.0.1, port: 0}
                """
                        .formatted(directory, nginx.tlsPort(), nginx.port(), dns.port()));
    }

    @AfterAll
    static void stop() throws IOException {
        if (rig != null) {
            rig.close();
        }
        if (dns != null) {
            dns.close();
        }
        if (nginx != null) {
            nginx.close();
        }
    }

    private static String target(String path) {
        return "https://origin.test:" + nginx.tlsPort() + path;
    }

    private static String proxy(String listener) {
        return (List.of("secure", "classic").contains(listener) ? "https" : "http") + "://localhost:"
                + rig.port(listener);
    }

    private static String proxyWithCredentials() {
        return "http://" + USER + ":open%20sesame@localhost:" + rig.port("closed");
    }

    private static String ca() {
        return nginx.certificate().toString();
    }

    private static String proxyCa() {
        return directory.resolve("tls/self-signed.crt").toString();
    }

    /** Runs a client with nothing of this process's environment that speaks of proxies. */
    private static String run(Map<String, String> environment, String... command) throws Exception {
        List<String> line = new ArrayList<>(List.of("env"));
        for (String name : List.of("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "NO_PROXY")) {
            line.add("-u" + name);
        }
        environment.forEach((name, value) -> line.add(name + "=" + value));
        line.addAll(List.of(command));
        Tools.Result result = Tools.run(60, line);
        assertThat(result.exit()).as(result.output()).isZero();
        return result.output();
    }

    private static Path clients() {
        return Tools.installed("CLIENTS", "clients", "bin/python", "gateway-tests/clients/install");
    }

    @ParameterizedTest
    @ValueSource(strings = {"open", "secure"})
    void curl(String listener) throws Exception {
        String output = run(
                Map.of(),
                Tools.find("curl"),
                "-sS",
                "--proxy",
                proxy(listener),
                "--proxy-cacert",
                listener.equals("secure") ? proxyCa() : ca(),
                "--cacert",
                ca(),
                target("/whoami"));
        assertThat(output).isEqualTo(EXPECTED_H2);
    }

    @Test
    void curlForwardsPlainRequestsUnderTheSamePolicy() throws Exception {
        String output = run(
                Map.of(),
                Tools.find("curl"),
                "-sS",
                "--proxy",
                proxy("open"),
                "http://origin.test:" + nginx.port() + "/whoami");
        assertThat(output).matches("GET HTTP/1\\.1 via=1\\.1 gateway-[0-9a-f]{12} for=");
        Tools.Result refused = Tools.run(
                "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--proxy", proxy("open"), "http://other.test/");
        assertThat(refused.output()).isEqualTo("403");
    }

    @Test
    void curlAuthenticates() throws Exception {
        String curl = Tools.find("curl");
        String output = run(
                Map.of(),
                curl,
                "-sS",
                "--proxy",
                proxy("closed"),
                "--proxy-user",
                USER + ":" + PASSWORD,
                "--proxy-anyauth",
                "--cacert",
                ca(),
                target("/whoami"));
        assertThat(output).isEqualTo(EXPECTED_H2);
        for (String credentials : List.of("ci:wrong", "nobody:open sesame", ":")) {
            Tools.Result refused = Tools.run(
                    curl,
                    "-s",
                    "-o",
                    "/dev/null",
                    "-w",
                    "%{http_connect}",
                    "--proxy",
                    proxy("closed"),
                    "--proxy-user",
                    credentials,
                    "--cacert",
                    ca(),
                    target("/whoami"));
            assertThat(refused.output()).isEqualTo("407");
        }
    }

    @Test
    void libcurlByHttp2ToTheProxy() throws Exception {
        String python = clients().resolve("bin/python").toString();
        String output = run(
                Map.of(),
                python,
                "clients/fetch_curl.py",
                proxy("secure"),
                proxyCa(),
                ca(),
                target("/whoami"),
                target("/whoami"),
                target("/whoami"));
        assertThat(output.lines().filter(EXPECTED_H2::equals)).hasSize(3);
        assertThat(output).contains("CONNECT");
    }

    @Test
    void pythonRequests() throws Exception {
        String python = clients().resolve("bin/python").toString();
        assertThat(run(
                        Map.of("HTTPS_PROXY", proxy("open")),
                        python,
                        "clients/fetch_requests.py",
                        target("/whoami"),
                        ca()))
                .isEqualTo(EXPECTED);
        assertThat(run(
                        Map.of("HTTPS_PROXY", proxyWithCredentials()),
                        python,
                        "clients/fetch_requests.py",
                        target("/whoami"),
                        ca()))
                .isEqualTo(EXPECTED);
    }

    @Test
    void pythonHttpx() throws Exception {
        String python = clients().resolve("bin/python").toString();
        assertThat(run(
                        Map.of("HTTPS_PROXY", proxyWithCredentials()),
                        python,
                        "clients/fetch_httpx.py",
                        target("/whoami"),
                        ca()))
                .isEqualTo("HTTP/2 " + EXPECTED_H2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"open", "classic", "closed"})
    void go(String listener) throws Exception {
        Path program = directory.resolve("fetch");
        if (!Files.exists(program)) {
            run(Map.of("GO111MODULE", "off"), Tools.find("go"), "build", "-o", program.toString(), "clients/fetch.go");
        }
        Path trusted = directory.resolve("trusted.pem");
        Files.writeString(trusted, Files.readString(Path.of(ca())) + Files.readString(Path.of(proxyCa())));
        String proxy = listener.equals("closed") ? proxyWithCredentials() : proxy(listener);
        assertThat(run(
                        Map.of("HTTPS_PROXY", proxy, "SSL_CERT_FILE", trusted.toString()),
                        program.toString(),
                        target("/whoami")))
                .isEqualTo("HTTP/2.0 " + EXPECTED_H2);
    }

    @Test
    void nodeUndici() throws Exception {
        Path modules = clients().resolve("node_modules");
        assertThat(run(
                        Map.of(
                                "HTTPS_PROXY",
                                proxyWithCredentials(),
                                "NODE_EXTRA_CA_CERTS",
                                ca(),
                                "NODE_PATH",
                                modules.toString()),
                        Tools.find("node"),
                        "clients/fetch.cjs",
                        target("/whoami")))
                .contains(EXPECTED);
    }

    @Test
    void gitAuthenticates() throws Exception {
        String git = Tools.find("git");
        Path work = Files.createDirectory(directory.resolve("work"));
        Files.writeString(work.resolve("hello"), "from afar");
        String repository = nginx.git().resolve("repository").toString();
        for (List<String> command : List.of(
                List.of("init", "-q"),
                List.of("add", "hello"),
                List.of("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "hello"),
                List.of("clone", "-q", "--bare", ".", repository))) {
            List<String> line = new ArrayList<>(List.of(git, "-C", work.toString()));
            line.addAll(command);
            Tools.Result result = Tools.run(60, line);
            assertThat(result.exit()).as(result.output()).isZero();
        }
        run(Map.of(), git, "-C", repository, "update-server-info");
        run(Map.of(), "chmod", "-R", "a+rX", repository);
        Path clone = directory.resolve("clone");
        run(
                Map.of("GIT_TERMINAL_PROMPT", "0", "GIT_SSL_CAINFO", ca()),
                git,
                "-c",
                "http.proxy=" + proxyWithCredentials(),
                "-c",
                "http.sslCAInfo=" + ca(),
                "clone",
                "-q",
                target("/git/repository"),
                clone.toString());
        assertThat(clone.resolve("hello")).hasContent("from afar");
    }

    @Test
    void theJdkClientAuthenticates() throws Exception {
        HttpClient client = HttpClient.newBuilder()
                .proxy(ProxySelector.of(new InetSocketAddress("127.0.0.1", rig.port("closed"))))
                .sslContext(trusting(nginx.certificate()))
                .authenticator(new Authenticator() {
                    @Override
                    protected PasswordAuthentication getPasswordAuthentication() {
                        assertThat(getRequestorType()).isEqualTo(RequestorType.PROXY);
                        assertThat(getRequestingPrompt()).isEqualTo("gateway");
                        return new PasswordAuthentication(USER, PASSWORD.toCharArray());
                    }
                })
                .build();
        HttpResponse<String> response = client.send(
                HttpRequest.newBuilder(URI.create(target("/whoami")))
                        .timeout(Duration.ofSeconds(20))
                        .build(),
                BodyHandlers.ofString());
        assertThat(response.body()).isEqualTo(EXPECTED_H2);
    }

    private static SSLContext trusting(Path certificate) throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        try (InputStream in = Files.newInputStream(certificate)) {
            Certificate parsed = CertificateFactory.getInstance("X.509").generateCertificate(in);
            store.setCertificateEntry("origin", parsed);
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }

    @ParameterizedTest
    @ValueSource(strings = {"open", "secure"})
    void chromium(String listener) throws Exception {
        try (Browser browser = Browser.start("proxy-server=" + proxy(listener), "ignore-certificate-errors")) {
            browser.open(target("/whoami"));
            assertThat(browser.evaluate("return document.body.innerText")).isEqualTo(EXPECTED_H2);
        }
    }

    @Test
    void whatIsNotAllowedIsRefusedWithItsCause() throws Exception {
        Tools.Result result = Tools.run(
                Tools.find("curl"),
                "-sv",
                "--proxy",
                proxy("open"),
                "--cacert",
                ca(),
                target("/").replace("origin.", "other."));
        assertThat(new String(result.output().getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8))
                .contains("403")
                .contains("policy_host");
    }
}
