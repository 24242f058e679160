package dev.gateway.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import java.lang.reflect.RecordComponent;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
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
    void eachPartIsCompared() {
        Map<String, String> changes = Map.ofEntries(
                Map.entry("listeners", BASE.replace("8080", "8081")),
                Map.entry("routes", BASE.replace("shop", "blog")),
                Map.entry("upstreams", BASE.replace("9000", "9001")),
                Map.entry("stores", BASE + "stores: [{name: shared, redis: \"redis://localhost\"}]\n"),
                Map.entry("connect", BASE + "connect: [{parentRefs: [{name: web}], allow: [.example.org]}]\n"),
                Map.entry("admin", BASE + "admin: {port: 9902}\n"),
                Map.entry("accessLog", BASE + "accessLog: {format: combined}\n"),
                Map.entry("tracing", BASE + "tracing: {mode: propagate}\n"),
                Map.entry("metrics", BASE + "metrics: {filters: true}\n"),
                Map.entry("otlp", BASE + "otlp: {timeout: 9s}\n"),
                Map.entry("overload", BASE + "overload: {lag: 2s}\n"),
                Map.entry("drain", BASE + "drain: {timeout: 9s}\n"),
                Map.entry("resolver", BASE + "resolver: {nameServers: [192.0.2.53]}\n"),
                Map.entry("localZone", BASE + "localZone: a\n"),
                Map.entry("stateDirectory", BASE + "stateDirectory: state\n"),
                Map.entry("workers", BASE + "workers: 3\n"),
                Map.entry("transport", BASE + "transport: nio\n"));
        assertThat(Stream.of(GatewayConfig.class.getRecordComponents()).map(RecordComponent::getName))
                .as("each part of a configuration, but where and how it is written")
                .filteredOn(name -> !name.equals("position") && !name.equals("concealed"))
                .containsExactlyInAnyOrderElementsOf(changes.keySet());
        changes.forEach(
                (part, after) -> assertThat(change(BASE, after)).as(part).isNotEqualTo("nothing has changed"));
    }

    @Test
    void storesAreNamed() {
        String before = BASE + "stores: [{name: shared, redis: \"redis://localhost\"}]\n";
        assertThat(change(before, before.replace("localhost", "redis.example"))).isEqualTo("changed store shared");
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
