package dev.gateway.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What is said of the difference between two configurations. */
class ConfigChangeTest {
    private static final String BASE =
            """
            listeners:
              - {name: web, port: 8080, protocol: HTTP}
            routes:
              - {name: shop, rules: [{backendRefs: [{name: app}]}]}
            upstreams:
              - {name: app, endpoints: [{host: 127.0.0.1, port: 9000}]}
            """;

    private static GatewayConfig config(String yaml) {
        LoadResult result = ConfigLoader.parse(yaml);
        assertThat(result).as(result.problems().toString()).isInstanceOf(LoadResult.Valid.class);
        return ((LoadResult.Valid) result).config();
    }

    private static String change(String before, String after) {
        return ConfigChange.between(config(before), config(after)).toString();
    }

    @Test
    void whatIsWrittenElsewhereIsNotChanged() {
        assertThat(change(BASE, "# a comment\n\n" + BASE)).isEqualTo("nothing has changed");
    }

    @Test
    void partsAreNamedBySection() {
        String after =
                """
                listeners:
                  - {name: web, port: 8081, protocol: HTTP}
                  - {name: more, port: 8082, protocol: HTTP}
                routes:
                  - {name: blog, rules: [{backendRefs: [{name: app}]}]}
                upstreams:
                  - {name: app, endpoints: [{host: 127.0.0.1, port: 9001, zone: a}]}
                localZone: a
                drain: {timeout: 10s}
                """;
        assertThat(change(BASE, after))
                .isEqualTo(
                        "added listener more, route blog; changed listener web, upstream app, drain, localZone; removed route shop");
    }

    @Test
    void aLongListIsCut() {
        String listeners = IntStream.range(0, 15)
                .mapToObj(i -> "  - {name: l" + i + ", port: " + (9000 + i) + ", protocol: HTTP}\n")
                .collect(Collectors.joining());
        String after = BASE.replace("routes:", listeners + "routes:");
        assertThat(change(BASE, after)).startsWith("added listener l0, ").endsWith("listener l9 and 5 more");
    }
}
