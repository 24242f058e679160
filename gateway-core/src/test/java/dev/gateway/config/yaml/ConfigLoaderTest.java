package dev.gateway.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.LoadResult.Valid;
import dev.gateway.config.route.HedgeConfig;
import dev.gateway.config.route.RuleConfig;
import dev.gateway.filter.headers.RequestHeaderModifierConfig;
import dev.gateway.format.Cidr;
import dev.gateway.upstream.balancer.hash.HashConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigLoaderTest {
    private static final Path TEST_FILES = Path.of("src/test/resources").toAbsolutePath();
    private static final String LISTENER = "listeners: [{name: web, port: 8080, protocol: HTTP}]\n";
    private static final String ROUTE = "routes: [{rules: [{backendRefs: [{name: app}]}]}]\n";
    private static final String UPSTREAM = "upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 9000}]}]\n";

    @Test
    void whatIsNotWrittenHasADefault() {
        GatewayConfig config = valid(LISTENER + ROUTE + UPSTREAM, Map.of());
        assertThat(config.listeners().get(0).bind().address()).isEqualTo("0.0.0.0");
        assertThat(config.listeners().get(0).limits().maxHeaders()).isEqualTo(100);
        assertThat(config.routes().get(0).name()).isEqualTo("route-1");
        assertThat(config.routes().get(0).rules().get(0).matches().get(0).path().value())
                .isEqualTo("/");
        assertThat(config.upstreams().get(0).timeouts().connect()).isEqualTo(Duration.ofSeconds(5));
        assertThat(config.admin()).isNull();
    }

    @Test
    void aJsonFileWorksToo() {
        GatewayConfig config = valid(
                """
                {"listeners": [{"name": "web", "port": 8080, "protocol": "HTTP"}],
                 "routes": [{"rules": [{"backendRefs": [{"name": "app"}]}]}],
                 "upstreams": [{"name": "app", "endpoints": [{"host": "127.0.0.1", "port": 9000}]}]}
                """,
                Map.of());
        assertThat(ConfigPrinter.yaml(config))
                .isEqualTo(ConfigPrinter.yaml(valid(LISTENER + ROUTE + UPSTREAM, Map.of())));
    }

    @Test
    void durationsAndSizesMeanWhatTheySay() {
        GatewayConfig config = valid(
                """
                listeners:
                  - name: web
                    port: 8080
                    protocol: HTTP
                    limits: {maxBody: 10MiB, maxRequestLine: 4096, maxHeaderBytes: 64KiB}
                    timeouts: {idle: 1h2m3s4ms, requestHeaders: 500ms, maxConnectionAge: 0s}
                """,
                Map.of());
        assertThat(config.listeners().get(0).limits().maxBody()).isEqualTo(10L << 20);
        assertThat(config.listeners().get(0).limits().maxRequestLine()).isEqualTo(4096);
        assertThat(config.listeners().get(0).timeouts().idle())
                .isEqualTo(Duration.ofHours(1).plusMinutes(2).plusSeconds(3).plusMillis(4));
        assertThat(config.listeners().get(0).timeouts().requestHeaders()).isEqualTo(Duration.ofMillis(500));
    }

    /** Who says that clients may pause does not mean a rate that nobody has written. */
    @Test
    void bodiesHaveARateUnlessTheyMayPauseForAsLongAsTheyLike() {
        assertThat(bodyRate("")).isEqualTo(100);
        assertThat(bodyRate(", timeouts: {requestBodyIdle: 10s}")).isEqualTo(100);
        assertThat(bodyRate(", timeouts: {requestBodyIdle: 0s}")).isZero();
        assertThat(bodyRate(", timeouts: {requestBodyIdle: 0s}, limits: {minBodyRate: 1KiB}"))
                .isEqualTo(1024);
        assertThat(bodyRate(", limits: {minBodyRate: 0}")).isZero();
    }

    /** They are written in UTF-8, so any character has bytes, but not half of one. */
    @Test
    void valuesOfHeadersMayHaveAnyCharacterThatIsNoControl() {
        assertThat(result(header("\u00fcb\u20ac \ud83d\ude00"), Map.of()).problems())
                .isEmpty();
        assertThat(texts(result(header("a\\ud83db"), Map.of())))
                .singleElement()
                .asString()
                .contains("U+d83d");
        assertThat(texts(result(header("a\\x7fb"), Map.of())))
                .singleElement()
                .asString()
                .contains("U+007f");
    }

    private static String header(String value) {
        return LISTENER + UPSTREAM
                + "routes: [{rules: [{filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: X-A, value: \""
                + value + "\"}]}}], backendRefs: [{name: app}]}]}]\n";
    }

    private static long bodyRate(String settings) {
        String listener = "listeners: [{name: web, port: 8080, protocol: HTTP" + settings + "}]\n";
        return valid(listener + ROUTE + UPSTREAM, Map.of()).listeners().get(0).minBodyRate();
    }

    @Test
    void nothingIsHedgedUnlessTheRuleSaysSo() {
        assertThat(hedge("")).isNull();
        HedgeConfig usual = Objects.requireNonNull(hedge(", hedge: {}"));
        assertThat(usual.after()).isEqualTo(new HedgeConfig.After(950, Duration.ZERO));
        assertThat(usual.atLeast()).isEqualTo(Duration.ofMillis(10));
        assertThat(usual.budget()).isEqualTo(5);
        assertThat(usual.methods()).containsExactly("GET", "HEAD", "OPTIONS");
    }

    @Test
    void aSecondAttemptIsMadeAfterAPercentileOrAFixedTime() {
        assertThat(after("p50")).isEqualTo(new HedgeConfig.After(500, Duration.ZERO));
        assertThat(after("p99")).isEqualTo(new HedgeConfig.After(990, Duration.ZERO));
        assertThat(after("p99.9")).isEqualTo(new HedgeConfig.After(999, Duration.ZERO));
        assertThat(after("1s500ms")).isEqualTo(new HedgeConfig.After(0, Duration.ofMillis(1500)));
    }

    private static HedgeConfig.After after(String written) {
        return Objects.requireNonNull(hedge(", hedge: {after: " + written + ", budget: 20%}"))
                .after();
    }

    /** Also after it was printed and read again. */
    private static @Nullable HedgeConfig hedge(String key) {
        String rule = "routes: [{rules: [{backendRefs: [{name: app}]" + key + "}]}]\n";
        String endpoints = "endpoints: [{host: 127.0.0.1, port: 9000}, {host: 127.0.0.1, port: 9001}]";
        GatewayConfig config = valid(LISTENER + rule + "upstreams: [{name: app, " + endpoints + "}]\n", Map.of());
        String printed = ConfigPrinter.yaml(config);
        GatewayConfig again = valid(printed, Map.of());
        assertThat(ConfigPrinter.yaml(again)).isEqualTo(printed);
        return again.routes().get(0).rules().get(0).forwarding().hedge();
    }

    @Test
    void variablesAreReplacedInTextsAndNumbers() {
        GatewayConfig config = valid(
                """
                listeners: [{name: "web-${STAGE:-dev}", port: "${PORT}", protocol: HTTP}]
                routes:
                  - rules:
                      - filters:
                          - type: DirectResponse
                            directResponse: {body: "$${PORT} is ${PORT}, ${EMPTY:-nothing} is ${WEIRD}"}
                """,
                Map.of("PORT", "8081", "EMPTY", "", "WEIRD", "${PORT}: \"x"));
        assertThat(config.listeners().get(0).name()).isEqualTo("web-dev");
        assertThat(config.listeners().get(0).bind().port()).isEqualTo(8081);
        assertThat(config.routes().get(0).rules().get(0).filters().get(0).toString())
                .contains("${PORT} is 8081, nothing is ${PORT}: \"x");
        String printed = ConfigPrinter.yaml(config);
        assertThat(ConfigPrinter.yaml(valid(printed, Map.of()))).isEqualTo(printed);
    }

    @Test
    void secretsAreNotPrintedAndWhatIsPrintedStillLoads() {
        GatewayConfig config = valid(
                LISTENER
                        + """
                routes:
                  - rules:
                      - matches: [{headers: [{name: X-Api-Key, value: hunter0}]}]
                        filters:
                          - type: RequestHeaderModifier
                            requestHeaderModifier:
                              set:
                                - {name: Authorization, value: Basic hunter1}
                                - {name: X-Plain, value: "${UPSTREAM_TOKEN}"}
                                - {name: X-Tier, value: "${TIER}"}
                                - {name: X-Other, value: silver}
                        backendRefs: [{name: app}]
                """
                        + UPSTREAM,
                Map.of("UPSTREAM_TOKEN", "hunter2", "TIER", "gold"));
        RuleConfig rule = config.routes().get(0).rules().get(0);
        RequestHeaderModifierConfig modifier =
                (RequestHeaderModifierConfig) rule.filters().get(0);
        assertThat(modifier.edits().set().get(1).value()).isEqualTo("hunter2");
        assertThat(config.toString()).doesNotContain("hunter");
        String printed = ConfigPrinter.yaml(config);
        assertThat(printed).doesNotContain("hunter").doesNotContain("gold").contains("silver");
        assertThat(ConfigPrinter.yaml(valid(printed, Map.of()))).isEqualTo(printed);
    }

    @Test
    void pathsStartAtTheDirectoryOfTheFile(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(
                directory.resolve("gateway.yaml"), "listeners: [{name: web, unix: run/web.sock, protocol: HTTP}]\n");
        GatewayConfig config = ((Valid) ConfigLoader.load(file, Map.of())).config();
        assertThat(config.listeners().get(0).bind().unix()).isEqualTo(directory.resolve("run/web.sock"));
    }

    @Test
    void aHugeFileIsOneClearError() {
        byte[] huge = (LISTENER + "# ".repeat(600_000)).getBytes(StandardCharsets.UTF_8);
        LoadResult result = ConfigLoader.parse("huge.yaml", huge, Path.of(""), Map.of());
        assertThat(texts(result))
                .containsExactly("huge.yaml:1:1: the file is larger than 1 MiB, too large for a configuration");
    }

    @Test
    void aFileThatIsNoneIsOneClearError(@TempDir Path directory) {
        assertThat(texts(ConfigLoader.load(directory.resolve("no.yaml"), Map.of())))
                .containsExactly(directory.resolve("no.yaml") + ": there is no file " + directory.resolve("no.yaml"));
        assertThat(texts(ConfigLoader.load(directory, Map.of())))
                .containsExactly(directory + ": no file in this directory is named *.yaml");
    }

    @Test
    void aFileOfNothingButMistakesEndsSomewhere() {
        String text = LISTENER + "x: 1\n" + "y".repeat(3) + ": {}\n" + many();
        assertThat(texts(result(text, Map.of()))).hasSize(201).last().asString().contains("and 803 more problems");
    }

    @Test
    void allAliasesAreReportedWithAllOtherMistakes() {
        String text =
                """
                listeners: [{name: web, port: 8080, protocol: HTTP}]
                routes:
                  - hostnames: [*shop]
                    rules:
                      - matches: [{path: {value: /a}}]
                        retry: &again {attempts: 2, bakoff: 1s}
                        backendRefs: &app [{name: app}]
                      - matches: [{path: {value: /b}}]
                        retry: {<<: *again, attempts: 99}
                        backendRefs: *app
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, prt: 80}]}]
                """;
        assertThat(texts(result(text, Map.of())))
                .map(each -> each.replaceAll("(write the value out here).*", "$1"))
                .containsExactly(
                        "test.yaml:3:17: aliases (*...) are not supported: write the value out here",
                        "test.yaml:6:37: unknown key 'bakoff' in a retry section: did you mean 'backoff'?",
                        "test.yaml:9:21: aliases (*...) are not supported: write the value out here",
                        "test.yaml:9:39: attempts: expected a whole number from 0 to 10, not '99'",
                        "test.yaml:10:22: aliases (*...) are not supported: write the value out here",
                        "test.yaml:11:55: unknown key 'prt' in an endpoint: did you mean 'port'?");
    }

    /** Each level stands for ten of the one before: a thousand million in all. */
    @Test
    void aliasesOfAliasesEndSomewhere() {
        StringBuilder text = new StringBuilder("a0: &a0 x\n");
        for (int i = 1; i < 10; i++) {
            text.append("a").append(i).append(": &a").append(i).append(" [");
            text.append(("*a" + (i - 1) + ",").repeat(10)).append("]\n");
        }
        assertThat(texts(result(text.toString(), Map.of())))
                .hasSizeLessThan(60)
                .allMatch(each -> each.contains("aliases"));
    }

    private static String shares(String threshold, String factor, String sample, String heap) {
        return LISTENER
                + """
                routes: [{rules: [{backendRefs: [{name: app}], accessLog: {sample: %3$s}}]}]
                upstreams:
                  - name: app
                    endpoints: [{host: 127.0.0.1, port: 80}, {host: 127.0.0.2, port: 80}]
                    panicThreshold: %1$s
                    loadBalancer: {policy: Hash, hash: [{path: true}], hashBalanceFactor: %2$s}
                overload: {heap: %4$s}
                """
                        .formatted(threshold, factor, sample, heap);
    }

    @ParameterizedTest
    @CsvSource({"50%, 150%, 12.5%, 85%", "50, 150, 0.125, 0.85"})
    void aShareHasAPercentSignAndItsFormerFormIsWarnedOf(String threshold, String factor, String sample, String heap) {
        LoadResult result = result(shares(threshold, factor, sample, heap), Map.of());
        GatewayConfig config = ((Valid) result).config();
        assertThat(config.upstreams().get(0).panicThreshold()).isEqualTo(50);
        assertThat(config.upstreams()
                        .get(0)
                        .loadBalancer()
                        .settings(HashConfig.class)
                        .balanceFactor())
                .isEqualTo(150);
        assertThat(config.overload().heap()).isEqualTo(0.85);
        assertThat(Objects.requireNonNull(config.routes().get(0).rules().get(0).accessLog())
                        .sample())
                .isEqualTo(0.125);
        String printed = ConfigPrinter.yaml(config);
        assertThat(printed)
                .contains(
                        "panicThreshold: \"50%\"", "hashBalanceFactor: \"150%\"", "sample: \"12.5%\"", "heap: \"85%\"");
        assertThat(texts(result).stream().map(each -> each.replaceAll("test.yaml:[0-9:]* ", "")))
                .containsExactlyElementsOf(
                        threshold.endsWith("%")
                                ? List.of()
                                : List.of(
                                        "warning: sample: a share has a percent sign: write 12.5%",
                                        "warning: panicThreshold: a share has a percent sign: write 50%",
                                        "warning: hashBalanceFactor: a share has a percent sign: write 150%",
                                        "warning: heap: a share has a percent sign: write 85%"));
    }

    /** Nothing is nothing in every form. */
    @Test
    void aShareOfNothingNeedsNoSign() {
        assertThat(texts(result(shares("0", "0", "0", "0"), Map.of()))).isEmpty();
        assertThat(texts(result(shares("0%", "0%", "0%", "0%"), Map.of()))).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0.5|150%|10%|85%|panicThreshold: expected a percentage from 0% to 100%, not '0.5': write 50%",
                "half|150%|10%|85%|panicThreshold: expected a percentage from 0% to 100%, not 'half'",
                "50%|1.5|10%|85%|hashBalanceFactor: expected a percentage from 0% to 10000%, not '1.5': write 150%",
                "50%|150%|10|85%|sample: expected a share from 0% to 100% such as 5%, not '10': write 10%",
                "50%|150%|110%|85%|sample: expected a share from 0% to 100% such as 5%, not '110%'",
                "50%|150%|10%|8.5|heap: expected a share from 0% to 100% such as 5%, not '8.5': write 8.5%"
            })
    void aShareInAForeignFormIsShownInTheRightOne(
            String threshold, String factor, String sample, String heap, String message) {
        assertThat(texts(result(shares(threshold, factor, sample, heap), Map.of())))
                .singleElement()
                .asString()
                .endsWith(message);
    }

    private static String many() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 1000; i++) {
            text.append("unknown").append(i).append(": 1\n");
        }
        return text.toString();
    }

    @Test
    void tenThousandRoutesAreCheckedAtOnce() {
        StringBuilder text = new StringBuilder(LISTENER).append("routes:\n");
        for (int i = 0; i < 10_000; i++) {
            text.append("- {rules: [{matches: [{path: {value: /p")
                    .append(i)
                    .append("}}], backendRefs: [{name: app}]}]}\n");
        }
        GatewayConfig config = valid(text + UPSTREAM, Map.of());
        assertThat(config.routes()).hasSize(10_000);
    }

    @Test
    void routesThatStandInEachOthersWayAreWarnedOf() {
        assertThat(warnings(LISTENER
                        + """
                routes:
                  - hostnames: [a.example, b.example]
                    rules:
                      - matches: [{path: {value: /api}, method: GET}]
                        backendRefs: [{name: app}]
                  - hostnames: [b.example]
                    rules:
                      - matches: [{path: {value: /api/}, method: GET}]
                        backendRefs: [{name: app}]
                  - hostnames: [b.example, c.example]
                    rules:
                      - matches: [{path: {value: /api}, method: GET}, {path: {value: /api}, method: PUT}]
                        backendRefs: [{name: app}]
                """
                        + UPSTREAM))
                .containsExactly(
                        "9:19: warning: this match is never reached: line 5 has the same one, and comes first",
                        "13:19: warning: this match overlaps with the same one in line 5, which comes first for some of"
                                + " its hostnames or listeners");
    }

    @Test
    void slashesThatAreKeptForNobodyAreWarnedOf() {
        String rule = LISTENER
                + """
                  routes:
                    - rules:
                        - mergeSlashes: false
                          filters: [%s]
                          backendRefs: [{name: app}]
                  """
                + UPSTREAM;
        assertThat(warnings(
                        rule.formatted("{type: ExternalAuth, externalAuth: {backendRef: {name: app}, path: /check}}")))
                .containsExactly("4:23: warning: mergeSlashes: false makes the gateway refuse paths with repeated"
                        + " slashes here, since ExternalAuth may decide by the path: remove it");
        assertThat(warnings(rule.formatted(""))).isEmpty();
    }

    /** Conditions on header fields and on the query make two matches different, in whatever order they stand. */
    @Test
    void matchesWithOtherHeadersOrQueriesAreNotInEachOthersWay() {
        String rule = "      - {matches: [{path: {value: /api}%s}], backendRefs: [{name: app}]}\n";
        String routes = LISTENER + "routes:\n  - rules:\n" + rule.formatted("");
        String one = ", headers: [{name: X-A, value: '1'}, {name: X-B, value: '2'}]";
        String query = ", queryParams: [{name: a, value: '1'}, {name: b, value: '2'}]";
        for (String other : List.of(
                one,
                ", headers: [{name: X-A, value: '1'}]",
                ", headers: [{name: X-A, value: '1'}, {name: X-C, value: '2'}]",
                ", headers: [{name: X-A, value: '1'}, {name: X-B, value: '3'}]",
                ", headers: [{name: X-A, value: '1'}, {name: X-B, value: '2', type: RegularExpression}]",
                query,
                ", queryParams: [{name: a, value: '1'}]",
                ", queryParams: [{name: a, value: '1'}, {name: B, value: '2'}]",
                ", queryParams: [{name: a, value: '1'}, {name: b, value: '3'}]")) {
            for (String same : List.of(one, query)) {
                if (!other.equals(same)) {
                    assertThat(warnings(routes + rule.formatted(same) + rule.formatted(other) + UPSTREAM))
                            .as(same + other)
                            .isEmpty();
                }
            }
        }
        String never = "5:20: warning: this match is never reached: line 4 has the same one, and comes first";
        routes = LISTENER + "routes:\n  - rules:\n";
        assertThat(warnings(routes
                        + rule.formatted(one)
                        + rule.formatted(", headers: [{name: x-b, value: '2'}, {name: x-a, value: '1'}]")
                        + UPSTREAM))
                .containsExactly(never);
        assertThat(warnings(routes
                        + rule.formatted(query)
                        + rule.formatted(", queryParams: [{name: b, value: '2'}, {name: a, value: '1'}]")
                        + UPSTREAM))
                .containsExactly(never);
    }

    @Test
    void whatWorksButIsProbablyNotMeantIsWarnedOf() {
        assertThat(
                        warnings(
                                """
                listeners: [{name: web, port: 8080, protocol: HTTP}]
                routes:
                  - rules:
                      - matches: [{path: {value: /a}}]
                        backendRefs: [{name: app, weight: 0}]
                      - matches: [{path: {value: /b}}]
                        filters:
                          - {type: DirectResponse, directResponse: {body: hello}}
                          - {type: URLRewrite, urlRewrite: {hostname: a.example}}
                          - {type: ResponseHeaderModifier, responseHeaderModifier: {always: true, remove: [x-a]}}
                upstreams:
                  - {name: app, endpoints: [{host: 127.0.0.1, port: 9000}], tls: {verify: false}}
                  - {name: spare, endpoints: [{host: 127.0.0.1, port: 9001}]}
                admin: {address: 0.0.0.0}
                """))
                .containsExactly(
                        "5:22: warning: every weight is 0: the gateway answers matching requests with 500, as the Gateway API requires",
                        "9:44: warning: no request reaches this filter: DirectResponse answers before it",
                        "12:75: warning: verify: false lets anybody on the network path read and change the traffic",
                        "13:12: warning: no route uses the upstream 'spare'",
                        "14:18: warning: the admin listener has no authentication, and other machines can reach it at '0.0.0.0': prefer 127.0.0.1, or add a tokenFile");
    }

    @Test
    void tlsToUpstreamsThatIsWeakIsWarnedOf() {
        assertThat(
                        warnings(
                                """
                listeners: [{name: web, port: 8080, protocol: HTTP}]
                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                upstreams:
                  - name: app
                    endpoints: [{host: 127.0.0.1, port: 9000}]
                    tls:
                      minVersion: TLSv1.1
                      ciphers: [ECDHE-RSA-AES128-GCM-SHA256, AES128-GCM-SHA256, TLS_AES_128_GCM_SHA256, ECDHE-RSA-AES128-SHA]
                """))
                .containsExactly(
                        "7:19: warning: TLSv1.1 is weak: an attacker on the network path may read the traffic",
                        "8:7: warning: ciphers: the list has no effect on TLS 1.3, where BoringSSL offers all suites: remove TLS_AES_128_GCM_SHA256",
                        "8:16: warning: weak: AES128-GCM-SHA256, ECDHE-RSA-AES128-SHA (safe ones have ECDHE, and GCM or CHACHA20, in their names)");
    }

    @Test
    void anExpiredCertificateIsWarnedOf() {
        assertThat(warnings(
                        """
                listeners:
                  - name: web
                    port: 8443
                    protocol: HTTPS
                    tls: {certificateRefs: [{certFile: tls/expired.crt, keyFile: tls/expired.key}]}
                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                """
                                + UPSTREAM))
                .containsExactly(
                        "5:40: warning: certFile: the certificate of CN=expired.test expired at 2020-01-02T00:00:00Z");
    }

    @Test
    void aHostThatNoCertificateIsIssuedForIsWarnedOf() {
        assertThat(warnings(
                        """
                listeners:
                  - name: secure
                    port: 8443
                    protocol: HTTPS
                    tls: {certificateRefs: [{certFile: tls/server.crt, keyFile: tls/server.key}]}
                  - {name: clear, port: 8080, protocol: HTTP}
                  - {name: own, port: 9443, protocol: HTTPS, tls: {selfSigned: true, selfSignedDirectory: tls}}
                routes:
                  - hostnames: [server.test, other.test, "*.server.test"]
                    rules: [{backendRefs: [{name: app}]}]
                  - parentRefs: [{name: clear}, {name: own}]
                    hostnames: [third.test]
                    rules: [{backendRefs: [{name: app}]}]
                """
                                + UPSTREAM))
                .containsExactly(
                        "9:30: warning: no certificate of the listener 'secure' is issued for other.test",
                        "9:42: warning: no certificate of the listener 'secure' is issued for *.server.test");
    }

    @Test
    void portsClashOnlyWhereAddressesOverlap() {
        String text =
                """
                listeners:
                  - {name: a, address: 127.0.0.1, port: 8080, protocol: HTTP}
                  - {name: b, address: 127.0.0.2, port: 8080, protocol: HTTP}
                  - {name: c, address: "::1", port: 8080, protocol: HTTP}
                  - {name: d, address: "0:0::1", port: 8081, protocol: HTTP}
                  - {name: any, port: 0, protocol: HTTP}
                  - {name: any2, port: 0, protocol: HTTP}
                """;
        assertThat(result(text, Map.of())).isInstanceOf(Valid.class);
        for (String wildcard : List.of("'::'", "0.0.0.0")) {
            assertThat(texts(result(text + "admin: {port: 8081, address: " + wildcard + "}\n", Map.of())))
                    .contains("test.yaml:8:15: port 8081 is already bound by listener 'd' in line 5");
        }
    }

    @Test
    void aBlockIsNoAddressToBind() {
        String text = "listeners: [{name: a, address: '::1/64', port: 8080, protocol: HTTP}]\n";
        assertThat(texts(result(text, Map.of())).toString())
                .contains("expected an IP address such as 0.0.0.0, :: or 127.0.0.1, or a host name, not '::1/64'");
    }

    @Test
    void anAddressBlockContainsItsAddresses() throws IOException {
        Cidr block = Objects.requireNonNull(Cidr.parse("10.1.128.0/17"));
        assertThat(block.contains(InetAddress.getByName("10.1.255.1"))).isTrue();
        assertThat(block.contains(InetAddress.getByName("10.1.127.1"))).isFalse();
        assertThat(block.contains(InetAddress.getByName("::1"))).isFalse();
        assertThat(Objects.requireNonNull(Cidr.parse("::/0")).contains(InetAddress.getByName("fe80::1")))
                .isTrue();
        assertThat(Cidr.parse("localhost")).isNull();
        assertThat(Cidr.parse("10.0.0.0/33")).isNull();
    }

    private static LoadResult result(String text, Map<String, String> environment) {
        return ConfigLoader.parse("test.yaml", text.getBytes(StandardCharsets.UTF_8), TEST_FILES, environment);
    }

    private static GatewayConfig valid(String text, Map<String, String> environment) {
        LoadResult result = result(text, environment);
        assertThat(result).as("%s", result.problems()).isInstanceOf(Valid.class);
        return ((Valid) result).config();
    }

    private static List<String> warningsOf(String match, String filter, String open) {
        return warnings(LISTENER
                + """
                        routes:
                          - rules:
                              - matches: [%s]
                                filters: [%s]
                                backendRefs: [{name: app}]
                              - matches: [%s]
                                backendRefs: [{name: app}]
                        """
                        .formatted(match, filter, open)
                + UPSTREAM);
    }

    /** Others may read such a name as another one. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "routes: [{hostnames: [HOST], rules: [{backendRefs: [{name: app}]}]}]",
                "routes: [{hostnames: ['*.HOST'], rules: [{backendRefs: [{name: app}]}]}]",
                "upstreams: [{name: app, endpoints: [{host: HOST, port: 80}]}]",
                "upstreams: [{name: app, endpoints: [{dns: HOST, port: 80}]}]",
                "upstreams: [{name: app, endpoints: [{srv: HOST}]}]",
                "upstreams: [{name: app, tls: {serverName: HOST}, endpoints: [{host: a, port: 80}]}]",
                "connect: [{parentRefs: [{name: web}], allow: [HOST]}]",
                "connect: [{parentRefs: [{name: web}], allow: ['*'], deny: [.HOST]}]",
                "connect: [{parentRefs: [{name: web}], allow: ['*'], trustedDestinations: ['HOST:80']}]",
                "connect: [{parentRefs: [{name: web}], allow: ['*'], parents: [{hosts: ['*'], proxy: 'http://HOST:80'}]}]",
                "admin: {hostnames: [HOST]}",
                "otlp: {endpoint: 'http://HOST:4318'}"
            })
    void aHostNameHasNoEmptyLabel(String section) {
        String rest = section.startsWith("routes") ? "" : ROUTE;
        rest += section.startsWith("upstreams") ? "" : UPSTREAM;
        for (String name : List.of("a..example", "a.example..")) {
            assertThat(texts(result(LISTENER + rest + section.replace("HOST", name) + "\n", Map.of())))
                    .as(section)
                    .anyMatch(problem -> problem.contains("expected ") && problem.contains("not '"));
        }
        String good = LISTENER + rest + section.replace("HOST", "a.example") + "\n";
        assertThat(texts(result(good, Map.of()))).noneMatch(problem -> problem.contains("expected "));
    }

    /** A terminal takes U+009B for the start of a command, too. */
    @Test
    void noMessageHasAControlCharacter() {
        LoadResult result = result("listeners: [{name: web, port: \"80\\x07\\x9b2J\", protocol: HTTP}]\n", Map.of());
        assertThat(texts(result))
                .anyMatch(problem -> problem.contains("80??2J"))
                .noneMatch(problem -> problem.chars().anyMatch(Character::isISOControl));
    }

    /** A client that leaves a header out takes the other rule. */
    @Test
    void conditionsThatClientsChooseAreNoProtection() {
        String guard = "{type: IPAccess, ipAccess: {allow: [10.0.0.0/8]}}";
        String admin = "{path: {value: /a}, queryParams: [{name: admin, value: '1'}]}";
        for (String open : List.of("{}", "{path: {value: /a}}", "{path: {value: /}, method: GET}")) {
            assertThat(warningsOf(admin, guard, open))
                    .singleElement()
                    .asString()
                    .startsWith("4:19: warning: headers and queryParams are no protection")
                    .contains("take the rule in line 7");
        }
        String byHeader = "{path: {value: /a}, headers: [{name: X-Role, value: admin}]}";
        assertThat(warningsOf(byHeader, guard, "{path: {value: /}}")).hasSize(1);
        assertThat(warningsOf(byHeader, guard, "{path: {value: /b}}")).isEmpty();
        assertThat(warningsOf("{path: {value: /a}, method: POST}", guard, "{path: {value: /a}}"))
                .isEmpty();
        assertThat(warningsOf(byHeader, "{type: URLRewrite, urlRewrite: {hostname: b.test}}", "{}"))
                .isEmpty();
    }

    /** Without the header, a request takes the guarded rule for fewer paths, not the open one for all. */
    @Test
    void aGuardedRuleForFewerPathsProtectsThoseWithAHeader() {
        String config =
                """
                listeners: [{name: web, port: 8080, protocol: HTTP}]
                routes:
                  - rules:
                      - matches: [{path: {value: /a/b}, headers: [{name: x-canary, value: on}]}]
                        filters: [{type: IPAccess, ipAccess: {allow: [10.0.0.0/8]}}]
                        backendRefs: [{name: app}]
                      - matches: [{path: {value: %s}}]
                        filters: [{type: IPAccess, ipAccess: {allow: [10.0.0.0/8]}}]
                        backendRefs: [{name: app}]
                      - backendRefs: [{name: app}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 9000}]}]
                """;
        assertThat(warnings(config.formatted("/a"))).isEmpty();
        assertThat(warnings(config.formatted("/c"))).singleElement().asString().contains("take the rule in line 10");
    }

    private static List<String> warnings(String text) {
        LoadResult result = result(text, Map.of());
        assertThat(result).as("%s", result.problems()).isInstanceOf(Valid.class);
        return texts(result).stream()
                .map(each -> each.substring("test.yaml:".length()))
                .toList();
    }

    private static List<String> texts(LoadResult result) {
        return result.problems().stream().map(Object::toString).toList();
    }
}
