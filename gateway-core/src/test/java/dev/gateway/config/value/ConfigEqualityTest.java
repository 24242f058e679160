package dev.gateway.config.value;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigEqualityTest {
    private static final String YAML =
            """
            listeners:
              - {name: web, port: 8080, protocol: HTTP, trustedProxies: [10.0.0.0/8, "::1"], timeouts: {idle: 10s}}
            routes:
              - name: all
                rules:
                  - matches: [{path: {type: Exact, value: /a}, headers: [{name: x, value: y}]}]
                    backendRefs: [{name: app}]
                    retry: {attempts: 2, codes: [502, 503]}
            upstreams:
              - {name: app, endpoints: [{host: a.test, port: 1}, {unix: /run/b.sock}]}
            admin: {}
            """;

    private static GatewayConfig config(String yaml) {
        LoadResult result = ConfigLoader.parse(yaml);
        assertThat(result).as("%s", result.problems()).isInstanceOf(LoadResult.Valid.class);
        return ((LoadResult.Valid) result).config();
    }

    @Test
    void whereItIsWrittenIsNoDifference() {
        GatewayConfig here = config(YAML);
        GatewayConfig there = config("# a comment\n\n" + YAML.replace("port: 1}", "port:    1}"));
        assertThat(here).isNotEqualTo(there);
        assertThat(ConfigEquality.isSame(here, there)).isTrue();
    }

    @Test
    void aDefaultThatIsWrittenIsNoDifference() {
        GatewayConfig here = config(YAML);
        GatewayConfig there = config(YAML.replace("port: 1}", "port: 1, weight: 1}"));
        assertThat(ConfigEquality.isSame(here, there)).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '>',
            textBlock =
                    """
                    port: 8080           > port: 8081
                    10.0.0.0/8           > 10.0.0.0/9
                    , "::1"              > ''
                    idle: 10s            > idle: 11s
                    value: y             > value: z
                    name: x              > name: y
                    [502, 503]           > [502]
                    /run/b.sock          > /run/c.sock
                    , {unix: /run/b.sock} > ''
                    admin: {}            > ''
                    """)
    void anythingElseIsADifference(String from, String to) {
        assertThat(YAML).contains(from);
        assertThat(ConfigEquality.isSame(config(YAML), config(YAML.replace(from, to))))
                .isFalse();
    }

    @Test
    void nothingIsOnlyTheSameAsNothing() {
        assertThat(ConfigEquality.isSame(null, null)).isTrue();
        assertThat(ConfigEquality.isSame(null, config(YAML).admin())).isFalse();
        assertThat(ConfigEquality.isSame(config(YAML).admin(), config(YAML).drain()))
                .isFalse();
    }
}
