package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.support.OutputLines;
import dev.gateway.tests.support.Rig;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.io.InputStream;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Logins with OpenID Connect, by the real oauth2-proxy and a certified OpenID provider. Both configurations are those that
 * {@code docs/filters.md} shows, but for hosts, ports and files.
 */
@Timeout(120)
class OidcLoginIT {
    private static final Pattern COOKIE_SECRET = Pattern.compile("`(openssl rand [^`]+)`");
    private static final String ANN = "ann|ann@shop.example.com|Ann|staff|";

    @TempDir
    private Path directory;

    private final String document = recipe();
    private Path program = Path.of("oauth2-proxy");
    private int proxyPort;
    private String issuer = "";
    private @Nullable Origin app;
    private @Nullable Rig rig;
    private @Nullable Process provider;
    private @Nullable Process proxy;

    OidcLoginIT() throws IOException {}

    /** Returns what the document says about oauth2-proxy. */
    private static String recipe() throws IOException {
        String text = Files.readString(Path.of("..", "docs", "filters.md"));
        int start = text.indexOf("### With oauth2-proxy");
        return text.substring(start, text.indexOf("\n### ", start + 1));
    }

    private String block(String language) {
        Matcher block = Pattern.compile("(?s)```" + language + "\n(.*?)```").matcher(document);
        assertThat(block.find()).as(language).isTrue();
        return block.group(1);
    }

    private static String replace(String text, Map<String, Object> all) {
        String replaced = text;
        for (Map.Entry<String, Object> each : all.entrySet()) {
            assertThat(replaced).contains(each.getKey());
            replaced = replaced.replace(each.getKey(), each.getValue().toString());
        }
        return replaced;
    }

    private String yaml() {
        return """
                listeners: [{name: secure, address: 127.0.0.1, port: 0, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: %s}}]
                admin: {address: 127.0.0.1, port: 0}
                accessLog: {path: access.log}
                """
                        .formatted(directory)
                + replace(
                        block("yaml"),
                        Map.of(
                                "[shop.example.com]",
                                "[localhost]",
                                "host: app.internal.example, port: 8080",
                                "host: 127.0.0.1, port: " + app.port(),
                                "host: oauth2-proxy.internal.example, port: 4180",
                                "host: 127.0.0.1, port: " + proxyPort));
    }

    @BeforeEach
    void start() throws Exception {
        Path installed = Tools.installed("OIDC", "oidc", "oauth2-proxy", "gateway-tests/oidc/install");
        String node = Tools.find("node");
        program = installed.resolve("oauth2-proxy");
        app = Origin.start().otherwise((stream, head) -> {
            String body = stream.receiveBody();
            stream.send(Head.response(200), false);
            stream.send(
                    said(head, "user") + "|" + said(head, "email") + "|" + said(head, "preferred-username") + "|"
                            + said(head, "groups") + "|" + body,
                    true);
        });
        proxyPort = Tools.freePort();
        rig = Rig.start(yaml());
        String shop = "localhost:" + rig.tlsPort();
        provider = new ProcessBuilder(
                        node, "oidc/provider.mjs", installed.toString(), "https://" + shop + "/oauth2/callback")
                .redirectErrorStream(true)
                .start();
        issuer = issuer(new OutputLines(provider));

        Files.writeString(directory.resolve("client-secret"), "shop's secret");
        Matcher secret = COOKIE_SECRET.matcher(document);
        assertThat(secret.find()).isTrue();
        Tools.Result made = Tools.run("sh", "-c", secret.group(1) + " >" + directory.resolve("cookie-secret"));
        assertThat(made.exit()).as(made.output()).isZero();
        Files.writeString(
                directory.resolve("oauth2-proxy.cfg"),
                replace(
                        block("ini"),
                        Map.of(
                                "0.0.0.0:4180",
                                "127.0.0.1:" + proxyPort,
                                "10.0.0.0/8",
                                "127.0.0.0/8",
                                "shop.example.com",
                                shop,
                                "https://id.example.com",
                                issuer,
                                "/etc/oauth2-proxy",
                                directory)));
        proxy = startProxy();
    }

    /** Returns what the provider says when it listens, after its warnings. */
    private static String issuer(OutputLines output) throws IOException, InterruptedException {
        List<String> said = new ArrayList<>();
        try {
            do {
                said.add(output.next());
            } while (!said.get(said.size() - 1).startsWith("http://"));
        } catch (IOException e) {
            throw new IOException("the provider did not start: " + said, e);
        }
        return said.get(said.size() - 1);
    }

    private Process startProxy() throws IOException {
        Path output = directory.resolve("oauth2-proxy.out");
        Process started = new ProcessBuilder(
                        program.toString(),
                        "--config",
                        directory.resolve("oauth2-proxy.cfg").toString())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        if (!Tools.awaitListening(proxyPort, started)) {
            started.destroyForcibly();
            fail("oauth2-proxy did not start: " + Files.readString(output));
        }
        return started;
    }

    @AfterEach
    void stop() throws IOException {
        if (rig != null) {
            rig.close();
        }
        for (Process process : new Process[] {proxy, provider}) {
            if (process != null) {
                Tools.stop(process);
            }
        }
        if (app != null) {
            app.close();
        }
    }

    /** Returns what a request says about its user, in whatever form a server may take for the field. */
    private static String said(Head head, String what) {
        return head.fields().stream()
                .filter(field -> field.getKey().replace('_', '-').equalsIgnoreCase("x-auth-request-" + what))
                .map(Map.Entry::getValue)
                .collect(Collectors.joining(","));
    }

    private void assertLogin(HttpResponse<String> answer) {
        assertThat(answer.statusCode()).isEqualTo(302);
        assertThat(answer.headers().firstValue("location")).hasValueSatisfying(location -> assertThat(location)
                .startsWith(issuer + "/auth?")
                .contains("client_id=shop", "code_challenge_method=S256"));
    }

    @ParameterizedTest
    @EnumSource
    void aUserLogsInAndOut(Version version) throws Exception {
        Visitor visitor = new Visitor("ann", version);
        HttpResponse<String> login = visitor.ask("GET", "/orders?id=7");
        assertLogin(login);
        assertThat(app.connections()).as("connections before the login").isZero();

        HttpResponse<String> page = visitor.follow(login);
        assertThat(page.uri()).isEqualTo(rig.uri("secure", "/orders?id=7"));
        assertThat(page.version()).isEqualTo(version);
        assertThat(page.statusCode() + " " + page.body()).isEqualTo("200 " + ANN);
        assertThat(visitor.prompts).containsExactly("login", "consent");
        assertThat(visitor.ask("POST", "/orders").body()).isEqualTo(ANN + "body");
        assertThat(visitor.ask("GET", "/", "X-Auth-Request-User", "root", "X_Auth_Request_Email", "root@here")
                        .body())
                .isEqualTo(ANN);
        assertThat(rig.awaitAccessLog(5)).anySatisfy(line -> assertThat(line)
                .contains("\"method\":\"POST\"", "\"identity\":\"ann@shop.example.com\""));

        HttpResponse<String> goodbye = visitor.ask("GET", "/oauth2/sign_out");
        assertThat(goodbye.statusCode()).isEqualTo(302);
        assertThat(goodbye.headers().firstValue("location")).hasValueSatisfying(location -> assertThat(
                        rig.uri("secure", "/oauth2/sign_out").resolve(location))
                .isEqualTo(rig.uri("secure", "/")));
        HttpResponse<String> again = visitor.ask("GET", "/orders?id=7");
        assertLogin(again);
        assertThat(visitor.follow(again).body()).isEqualTo(ANN);
        assertThat(visitor.prompts).as("the provider knows the browser").hasSize(2);
    }

    /** Bob has neither a preferred name nor a group, so oauth2-proxy says nothing about them. */
    @ParameterizedTest
    @EnumSource
    void nobodyForgesWhatOauth2ProxyDoesNotSay(Version version) throws Exception {
        Visitor visitor = new Visitor("bob", version);
        assertThat(visitor.follow(visitor.ask("GET", "/")).body()).isEqualTo("bob|bob@shop.example.com|||");
        assertThat(visitor.ask(
                                "GET",
                                "/",
                                "X-Auth-Request-User",
                                "ann",
                                "X-Auth-Request-Preferred-Username",
                                "Ann",
                                "X-Auth-Request-Groups",
                                "staff")
                        .body())
                .isEqualTo("bob|bob@shop.example.com|||");
    }

    @ParameterizedTest
    @EnumSource
    void withoutASessionNothingReachesTheApp(Version version) throws Exception {
        Visitor visitor = new Visitor("ann", version);
        assertLogin(visitor.ask("POST", "/orders"));
        assertLogin(visitor.ask("GET", "/", "X-Auth-Request-User", "root", "X-Auth-Request-Email", "root@here"));
        assertLogin(visitor.ask("GET", "/", "X-Forwarded-Uri", "/oauth2/auth", "X-Forwarded-Method", "OPTIONS"));
        assertLogin(new Visitor("ann", version).ask("GET", "/", "Cookie", "_oauth2_proxy=forged"));
        assertThat(visitor.ask("GET", "/", "Accept", "application/json").statusCode())
                .isEqualTo(401);
        rig.reload(replace(yaml(), Map.of("path: /\n", "path: /oauth2/auth\n")));
        assertThat(visitor.ask("POST", "/orders").statusCode()).isEqualTo(401);
        assertThat(app.connections()).isZero();
        rig.awaitMetric(6, "gateway_external_auth_decisions_total", "decision=\"denied\"");
        rig.awaitMetric(6, "gateway_downstream_requests_total", "cause=\"authz_denied\"");

        assertThat(visitor.follow(visitor.ask("GET", "/oauth2/start?rd=/orders"))
                        .body())
                .isEqualTo(ANN);
    }

    @ParameterizedTest
    @EnumSource
    void withoutTheLoginServerNobodyGetsIn(Version version) throws Exception {
        Visitor visitor = new Visitor("ann", version);
        assertThat(visitor.follow(visitor.ask("GET", "/")).body()).isEqualTo(ANN);
        int before = rig.awaitAccessLog(3).size();
        proxy.destroyForcibly().waitFor();
        for (String method : List.of("GET", "POST")) {
            HttpResponse<String> answer = visitor.ask(method, "/orders");
            assertThat(answer.statusCode()).isEqualTo(503);
            assertThat(answer.headers().firstValue("proxy-status"))
                    .hasValueSatisfying(value -> assertThat(value).endsWith(";details=\"authz_error\""));
        }
        assertThat(app.requests("/orders")).isEmpty();
        assertThat(rig.awaitAccessLog(before + 2)).anySatisfy(line -> assertThat(line)
                .contains("\"cause\":\"authz_error\"", "ExternalAuth: oauth2-proxy did not answer"));
        rig.awaitMetric(2, "gateway_external_auth_decisions_total", "decision=\"error\"");

        proxy = startProxy();
        assertThat(visitor.ask("GET", "/orders").body()).isEqualTo(ANN);
    }

    /** A browser, as far as logins need one: it has cookies, and fills in forms. */
    private final class Visitor {
        private static final Pattern PROMPT = Pattern.compile("name=\"prompt\" value=\"(\\w+)\"");

        private final String name;
        private final Version version;
        private final HttpClient client;
        final List<String> prompts = new ArrayList<>();

        Visitor(String name, Version version) throws Exception {
            this.name = name;
            this.version = version;
            this.client = HttpClient.newBuilder()
                    .version(version)
                    .sslContext(trusting(directory.resolve("self-signed.crt")))
                    .cookieHandler(new CookieManager())
                    .build();
        }

        /** Asks the shop; a POST has a body. */
        HttpResponse<String> ask(String method, String path, String... fields) throws Exception {
            return send(rig.uri("secure", path), version, request -> {
                request.method(
                        method, method.equals("POST") ? BodyPublishers.ofString("body") : BodyPublishers.noBody());
                if (fields.length > 0) {
                    request.headers(fields);
                }
            });
        }

        /** Goes where redirects lead, and logs in if it is asked to. */
        HttpResponse<String> follow(HttpResponse<String> first) throws Exception {
            HttpResponse<String> answer = first;
            for (int steps = 0; steps < 20; steps++) {
                Matcher prompt = PROMPT.matcher(answer.body());
                if (answer.statusCode() / 100 == 3) {
                    URI next = answer.uri()
                            .resolve(answer.headers().firstValue("location").orElseThrow());
                    answer = send(next, next.getScheme().equals("https") ? version : Version.HTTP_1_1, request -> {});
                } else if (prompt.find()) {
                    prompts.add(prompt.group(1));
                    String form = "prompt=" + prompt.group(1) + "&login=" + name + "&password=any";
                    answer = send(answer.uri(), Version.HTTP_1_1, request -> request.POST(BodyPublishers.ofString(form))
                            .header("Content-Type", "application/x-www-form-urlencoded"));
                } else {
                    return answer;
                }
            }
            return fail("redirected for ever: " + answer);
        }

        private HttpResponse<String> send(URI uri, Version spoken, Consumer<HttpRequest.Builder> edit)
                throws Exception {
            HttpRequest.Builder request =
                    HttpRequest.newBuilder(uri).version(spoken).timeout(Duration.ofSeconds(20));
            edit.accept(request);
            return client.send(request.build(), BodyHandlers.ofString());
        }
    }

    private static SSLContext trusting(Path certificate) throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        try (InputStream in = Files.newInputStream(certificate)) {
            store.setCertificateEntry(
                    "gateway", CertificateFactory.getInstance("X.509").generateCertificate(in));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }
}
