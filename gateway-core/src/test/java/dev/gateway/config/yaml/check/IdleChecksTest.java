package dev.gateway.config.yaml.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.yaml.ConfigLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The gateway must not close idle connections before the load balancers in front of it do. */
class IdleChecksTest {
    private static List<String> problems(String proxies, String timeouts) {
        String text =
                """
                listeners:
                  - {name: web, port: 8080, protocol: HTTP%s%s}
                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 9000}]}]
                """
                        .formatted(
                                proxies.isEmpty() ? "" : ", trustedProxies: [" + proxies + "]",
                                timeouts.isEmpty() ? "" : ", timeouts: {idle: " + timeouts + "}");
        return ConfigLoader.parse(
                        "test.yaml",
                        text.getBytes(StandardCharsets.UTF_8),
                        Path.of("").toAbsolutePath(),
                        Map.of())
                .problems()
                .stream()
                .map(Object::toString)
                .toList();
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "'', 5s",
                "'', ''",
                "10.0.0.0/8, ''",
                "10.0.0.0/8, 61s",
                "10.0.0.0/8, 0s",
                "0.0.0.0/0, ''",
                "'35.191.0.0/16, 130.211.0.0/22', 620s",
                "130.211.0.0/22, 0s"
            })
    void whoKeepsThemForLongerThanTheBalancerIsNotWarned(String proxies, String idle) {
        assertThat(problems(proxies, idle)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "10.0.0.0/8, 30s, AWS",
        "10.0.0.0/8, 60s, AWS",
        "35.191.0.0/16, '', Google",
        "130.211.1.0/24, 600s, Google"
    })
    void whoClosesThemSoonerIsWarned(String proxies, String idle, String whose) {
        assertThat(problems(proxies, idle)).singleElement().asString().contains("warning: idle: ", whose);
    }
}
