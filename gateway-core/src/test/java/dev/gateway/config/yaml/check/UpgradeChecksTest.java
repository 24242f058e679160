package dev.gateway.config.yaml.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.yaml.ConfigLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UpgradeChecksTest {
    private static final String REACHES_ALL =
            "3:25: warning: upgrades: after h2c a client can send any request to the upstream, whatever the rules route";

    private static List<String> problems(String text) {
        return ConfigLoader.parse(
                        "test.yaml",
                        text.getBytes(StandardCharsets.UTF_8),
                        Path.of("src/test/resources").toAbsolutePath(),
                        Map.of())
                .problems()
                .stream()
                .map(each -> each.toString().replace("test.yaml:", ""))
                .toList();
    }

    /** A route for one host, and in line 8 another route that may share something with it. */
    private static List<String> h2c(String others) {
        return problems(
                """
                listeners: [{name: web, port: 8080, protocol: HTTP}, {name: other, port: 8081, protocol: HTTP}]
                routes:
                  - {rules: [{upgrades: [h2c], backendRefs: [{name: docker}]}], hostnames: [docker.example], parentRefs: [{name: web}]}
                %s
                upstreams:
                  - {name: docker, endpoints: [{host: 127.0.0.1, port: 9000}]}
                  - {name: same, endpoints: [{host: 127.0.0.1, port: 9000}]}
                  - {name: app, endpoints: [{host: 127.0.0.1, port: 9001}]}
                """
                        .formatted(others.indent(2)));
    }

    private static boolean isRefused(List<String> problems) {
        return problems.stream()
                .anyMatch(each -> each.startsWith(
                        "3:25: upgrades: after h2c no rule sees the requests to the upstream, so" + " they pass the "));
    }

    @Test
    void h2cIsWarnedOf() {
        assertThat(h2c("")).contains(REACHES_ALL);
        assertThat(
                        h2c(
                                """
                - hostnames: [app.example]
                  rules: [{backendRefs: [{name: app}], filters: [{type: IPAccess, ipAccess: {allow: [10.0.0.0/8]}}]}]
                """))
                .contains(REACHES_ALL);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                // the same host, on whatever listener
                "hostnames: [docker.example], parentRefs: [{name: other}], rules: [{FILTERS, backendRefs: [{name: app}]}]",
                "hostnames: ['*.example'], rules: [{FILTERS, backendRefs: [{name: app}]}]",
                "rules: [{FILTERS, backendRefs: [{name: app}]}]",
                // the same upstream, or its endpoint
                "hostnames: [app.example], rules: [{FILTERS, backendRefs: [{name: docker}]}]",
                "hostnames: [app.example], rules: [{FILTERS, backendRefs: [{name: same}]}]",
                // another rule of such a route
                "hostnames: [app.example], rules: [{backendRefs: [{name: docker}]}, "
                        + "{FILTERS, matches: [{path: {value: /a}}], backendRefs: [{name: app}]}]"
            })
    void h2cLeadsPastNoRuleThatProtectsWhatItReaches(String route) {
        String access = "filters: [{type: IPAccess, ipAccess: {allow: [10.0.0.0/8]}}]";
        String limit = "filters: [{type: RateLimit, rateLimit: {limits: [{name: all, requests: 5, interval: 1s}]}}]";
        assertThat(isRefused(h2c("- {" + route.replace("FILTERS", access) + "}")))
                .isTrue();
        assertThat(isRefused(h2c("- {" + route.replace("FILTERS", limit) + "}")))
                .isTrue();
        assertThat(h2c("- {" + route.replace("FILTERS, ", "") + "}")).contains(REACHES_ALL);
    }

    @Test
    void anAnswerThatRefusesProtectsToo() {
        String route = "- {rules: [{matches: [{path: {value: /a}}], filters: [{type: DirectResponse, directResponse: "
                + "{statusCode: %s}}]}]}";
        assertThat(isRefused(h2c(route.formatted("403")))).isTrue();
        assertThat(isRefused(h2c(route.formatted("204")))).isFalse();
    }

    @Test
    void aListenerThatAnswersH2cItselfLeavesNone() {
        assertThat(
                        problems(
                                """
                listeners: [{name: web, port: 8080, protocol: HTTP, h2cUpgrade: true}]
                routes:
                  - {rules: [{upgrades: [h2c], backendRefs: [{name: docker}]}]}
                upstreams:
                  - {name: docker, endpoints: [{host: 127.0.0.1, port: 9000}]}
                """))
                .contains("3:25: upgrades: the listener 'web' in line 1 answers h2c itself: remove h2cUpgrade there, or"
                        + " h2c here");
    }

    @Test
    void anUpstreamOfHttp2OnlyUpgradesToWebSocketsOnly() {
        String config =
                """
                listeners: [{name: web, port: 8080, protocol: HTTP}]
                routes:
                  - {rules: [{upgrades: [%s], backendRefs: [{name: app}]}]}
                upstreams:
                  - {name: app, protocol: h2c, endpoints: [{host: 127.0.0.1, port: 9000}]}
                """;
        assertThat(problems(config.formatted("websocket"))).isEmpty();
        assertThat(problems(config.formatted("websocket, tcp")))
                .containsExactly("3:25: upgrades: 'tcp' needs HTTP/1.1, and the upstream 'app' in line 5 speaks HTTP/2"
                        + " only: write protocol: http1 or auto there");
    }

    @Test
    void whatAFilterAnswersUpgradesToNothing() {
        assertThat(
                        problems(
                                """
                listeners: [{name: web, port: 8080, protocol: HTTP}]
                routes:
                  - {rules: [{upgrades: [tcp], filters: [{type: DirectResponse, directResponse: {statusCode: 204}}]}]}
                """))
                .containsExactly("3:25: upgrades: nothing can upgrade, because a filter answers every request: remove"
                        + " upgrades");
    }
}
