package dev.gateway.config.yaml.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.yaml.ConfigLoader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the gateway does as it is told, and somebody hardly wants. */
class WarningsTest {
    @TempDir
    Path directory;

    private List<String> problems(String listener, String rule) {
        return problems(listener, rule, "");
    }

    private List<String> problems(String listener, String rule, String more) {
        String text =
                """
                listeners: [{name: web, port: 8080, %s}]
                routes: [{parentRefs: [{name: web}], rules: [{backendRefs: [{name: app}], %s}]}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 9000}]}]
                %s
                """
                        .formatted(listener, rule, more);
        return ConfigLoader.parse("test.yaml", text.getBytes(StandardCharsets.UTF_8), directory, Map.of())
                .problems()
                .stream()
                .map(Object::toString)
                .toList();
    }

    /** A proxy may pass the upgrade on, and its client would then send requests past it. */
    @Test
    void anUpgradeToHttp2IsForClientsThemselves() {
        String effect = "test.yaml:1:%d: warning: h2cUpgrade has no effect ";
        assertThat(problems("protocol: HTTP, h2cUpgrade: true", "timeouts: {}")).isEmpty();
        assertThat(problems("protocol: HTTP, h2cUpgrade: true, trustedProxies: [10.0.0.0/8]", "timeouts: {}"))
                .containsExactly(effect.formatted(53)
                        + "for peers of trustedProxies, whose clients could leave the proxy by it: remove it");
        assertThat(problems(
                        "protocol: HTTP, h2cUpgrade: true, proxyProtocol: {trustedCidrs: [10.0.0.0/8]}",
                        "timeouts: {}"))
                .containsExactly(effect.formatted(53)
                        + "for peers of proxyProtocol, whose clients could leave the proxy by it: remove it");
        String file =
                """
                listeners: [{name: web, unix: web.sock, protocol: HTTP, h2cUpgrade: true}]
                routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {statusCode: 204}}]}]}]
                """;
        assertThat(ConfigLoader.parse("test.yaml", file.getBytes(StandardCharsets.UTF_8), directory, Map.of())
                        .problems())
                .singleElement()
                .hasToString(effect.formatted(57)
                        + "with 'unix', where only proxies and programs of this machine connect: remove it");
    }

    /** As where somebody has turned the log off for a while. */
    @Test
    void aLogThatIsOffNeedsNoDirectory() {
        String path = "path: none/access.log";
        assertThat(problems("protocol: HTTP", "timeouts: {}", "accessLog: {" + path + "}"))
                .singleElement()
                .asString()
                .contains("warning: path: there is no directory ");
        assertThat(problems("protocol: HTTP", "timeouts: {}", "accessLog: {format: off, " + path + "}"))
                .isEmpty();
    }

    /** Of many wrong lines each would be a problem of its own, and hide others. */
    @Test
    void allWrongLinesOfAFileAreOneWarning() throws IOException {
        Files.writeString(directory.resolve("users"), "ann:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n" + "x\n".repeat(300));
        assertThat(problems(
                        "protocol: HTTP, address: 127.0.0.1",
                        "filters: [{type: BasicAuth, basicAuth: {usersFile: users}}]"))
                .anySatisfy(problem -> assertThat(problem)
                        .contains("users:2:1: ", "users:4:1: ")
                        .endsWith("; and 297 more lines are wrong"))
                .hasSize(2); // and one of the weak hash
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            quoteCharacter = '`',
            textBlock =
                    """
                    10.0.0.1/8     => '10.0.0.1/8' is all of 10.0.0.0/8: write it so, or the address alone
                    10.1.2.3/24    => '10.1.2.3/24' is all of 10.1.2.0/24: write it so, or the address alone
                    fd00::1/8      => 'fd00::1/8' is all of fd00:0:0:0:0:0:0:0/8: write it so, or the address alone
                    """)
    void anAddressWithAPrefixMayBeMeantAsOne(String block, String warning) {
        assertThat(problems("protocol: HTTP", "filters: [{type: IPAccess, ipAccess: {deny: ['" + block + "']}}]"))
                .singleElement()
                .asString()
                .endsWith("warning: deny: " + warning);
        assertThat(problems("protocol: HTTP, trustedProxies: ['" + block + "']", "timeouts: {}"))
                .singleElement()
                .asString()
                .contains("warning: trustedProxies: ")
                .endsWith(warning);
        assertThat(problems(
                        "protocol: HTTP",
                        "timeouts: {}",
                        "connect: [{parentRefs: [{name: web}], allow: ['" + block + "']}]"))
                .anySatisfy(problem ->
                        assertThat(problem).contains("warning: allow: ").endsWith(warning));
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.0.0.0/8", "10.0.0.1", "10.0.0.1/32", "fd00::/8", "::1/128", "0.0.0.0/0"})
    void blocksWithoutHostBitsAreAsTheyAre(String block) {
        assertThat(problems("protocol: HTTP", "filters: [{type: IPAccess, ipAccess: {deny: ['" + block + "']}}]"))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "filters: [{type: ExternalAuth, externalAuth: {path: /a, backendRef: {name: app}, timeout: 1s}}]",
                "filters: [{type: ExternalAuth, externalAuth: {path: /a, backendRef: {name: app}, timeout: 5s}}]",
                "retry: {connectWait: 2s}"
            })
    void aTimeLimitInsideAShorterOneHasNoEffect(String inner) {
        assertThat(problems("protocol: HTTP", "timeouts: {request: 1s}, " + inner))
                .singleElement()
                .asString()
                .contains(" has no effect: timeouts.request of the rule (1s) includes it");
        assertThat(problems("protocol: HTTP", "timeouts: {request: 6s}, " + inner))
                .isEmpty();
        assertThat(problems("protocol: HTTP", inner)).isEmpty();
    }

    @Test
    void defaultsAreNoTimeLimitsThatSomebodyHasWritten() {
        assertThat(
                        problems(
                                "protocol: HTTP",
                                "timeouts: {request: 1s}, filters: [{type: ExternalAuth, externalAuth: {path: /a, backendRef: {name: app}}}]"))
                .isEmpty();
        assertThat(problems("protocol: HTTP", "timeouts: {request: 1s, streamIdle: 1m}"))
                .singleElement()
                .asString()
                .contains("streamIdle has no effect");
    }

    @Test
    void whatNoValueIsFilledInForIsSeenByClients() throws IOException {
        Files.writeString(
                directory.resolve("bad.html"), "{{stauts}} {{ status }} {{color}} {{status}} {{a b}} {x} {{}}");
        Files.writeString(directory.resolve("good.html"), "{{requestId}} {{status}} {{reason}} {{cause}} {status}");
        String pages = "filters: [{type: ErrorPages, errorPages: {pages: [{statuses: [5xx], files: [%s]}]}}]";
        String file = directory.resolve("bad.html").toString();
        assertThat(problems("protocol: HTTP", pages.formatted("bad.html")))
                .satisfiesExactly(
                        typo -> assertThat(typo)
                                .endsWith("clients see {{stauts}} of " + file + " as it is: did you mean {{status}}?"),
                        spaces -> assertThat(spaces)
                                .endsWith(
                                        "clients see {{ status }} of " + file + " as it is: did you mean {{status}}?"),
                        other -> assertThat(other)
                                .endsWith("clients see {{color}} of " + file
                                        + " as it is: the gateway fills in requestId, status, reason, cause"));
        assertThat(problems("protocol: HTTP", pages.formatted("good.html"))).isEmpty();
    }

    private String credentials(String type) throws IOException {
        Files.writeString(
                directory.resolve("users"), "ann:$2y$05$abcdefghijklmnopqrstuuu7ZC0uZ1Xo4Vw7Wl8xqvN6kM1iJ2x5O\n");
        Files.writeString(directory.resolve("keys"), "shop:" + "0".repeat(64) + "\n");
        return switch (type) {
            case "BasicAuth" -> "filters: [{type: BasicAuth, basicAuth: {usersFile: users}}]";
            case "APIKey" -> "filters: [{type: APIKey, apiKey: {keysFile: keys}}]";
            default ->
                "filters: [{type: JWT, jwt: {providers: [{issuer: a, audiences: [b], jwksUrl: 'https://id.example/'}]}}]";
        };
    }

    @ParameterizedTest
    @ValueSource(strings = {"BasicAuth", "APIKey", "JWT"})
    void credentialsWithoutTlsAreReadOnTheWay(String type) throws IOException {
        String filter = credentials(type);
        assertThat(problems("protocol: HTTP", filter))
                .filteredOn(problem -> problem.contains(" without TLS: "))
                .singleElement()
                .asString()
                .startsWith(
                        "test.yaml:1:47: warning: clients send the credentials of " + type + " (line 2) without TLS");
        for (String safe : List.of(
                "protocol: HTTP, address: 127.0.0.1",
                "protocol: HTTP, address: localhost",
                "protocol: HTTP, trustedProxies: [10.0.0.0/8]",
                "protocol: HTTP, proxyProtocol: {trustedProxies: [10.0.0.0/8]}",
                "protocol: HTTPS, tls: {selfSigned: true}")) {
            assertThat(problems(safe, filter)).noneMatch(problem -> problem.contains(" without TLS: "));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = "=>",
            quoteCharacter = '`',
            textBlock =
                    """
                    {type: IPAccess, ipAccess: {deny: [10.0.0.0/8]}} => write ipAccess into the listener
                    {type: RateLimit, rateLimit: {limits: [{maxInFlight: 5}]}} => write limits: {maxConnectionsPerClient: …, maxAcceptRate: …} into the listener
                    {type: CORS, cors: {allowOrigins: ["*"]}} => remove it
                    {type: ExternalAuth, externalAuth: {path: /a, backendRef: {name: app}}} => an HTTPS listener can have ExternalAuth, \
                    and ipAccess of a TLS or TCP listener refuses clients by their addresses
                    """)
    void whoCannotHaveAFilterIsNotToldToOpenTheDoor(String filter, String fix) {
        assertThat(problems("protocol: TCP", "filters: [" + filter + "]"))
                .singleElement()
                .asString()
                .endsWith("filters is for requests, and a route of TLS and TCP listeners has none: " + fix);
    }
}
