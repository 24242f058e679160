package dev.gateway.status;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.config.yaml.Json;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is shown of routes. */
class RouteViewTest {
    private static List<Map<String, Object>> view(String routes) {
        String yaml =
                """
                listeners:
                  - {name: web, port: 8080, protocol: HTTP}
                  - {name: other, port: 8081, protocol: HTTP}
                upstreams:
                  - {name: app, endpoints: [{host: 127.0.0.1, port: 9000}]}
                  - {name: next, endpoints: [{host: 127.0.0.1, port: 9001}]}
                routes:
                """
                        + routes;
        LoadResult result = ConfigLoader.parse(
                "gateway.yaml", yaml.getBytes(StandardCharsets.UTF_8), Path.of(""), Map.of("TOKEN", "open-sesame"));
        assertThat(result).as("%s", result.problems()).isInstanceOf(LoadResult.Valid.class);
        GatewayConfig config = ((LoadResult.Valid) result).config();
        return RouteView.all(config);
    }

    @Test
    void aRuleIsShownWithItsPlaceListenersTargetsAndTimeouts() {
        List<Map<String, Object>> rules = view(
                """
                  - name: shop
                    parentRefs: [{name: other}]
                    hostnames: [shop.test, "*.shop.test"]
                    rules:
                      - backendRefs: [{name: app, weight: 3}, {name: next}]
                        timeouts: {request: 17s}
                """);
        assertThat(rules).hasSize(1);
        assertThat(rules.get(0))
                .containsEntry("name", "shop")
                .containsEntry("at", "gateway.yaml:12:9")
                .containsEntry("listeners", List.of("other"))
                .containsEntry("hostnames", List.of("shop.test", "*.shop.test"))
                .containsEntry("filters", List.of())
                .containsEntry(
                        "backendRefs",
                        List.of(Map.of("name", "app", "weight", 3), Map.of("name", "next", "weight", 1)));
        assertThat(Json.write(rules.get(0))).contains("\"request\": \"17s\"");
    }

    @Test
    void aRouteWithoutParentsIsOnAllListeners() {
        assertThat(view("  - {name: all, rules: [{backendRefs: [{name: app}]}]}\n")
                        .get(0))
                .containsEntry("listeners", List.of("web", "other"))
                .containsEntry("hostnames", List.of());
    }

    @Test
    void rulesOfOneRouteHaveNamesOfTheirOwn() {
        assertThat(
                        view(
                                """
                          - name: shop
                            rules:
                              - {name: cart, matches: [{path: {value: /cart}}], backendRefs: [{name: app}]}
                              - {matches: [{path: {value: /}}], backendRefs: [{name: next}]}
                        """))
                .extracting(each -> each.get("name"))
                .containsExactly("shop/cart", "shop/2");
    }

    @Test
    void conditionsAreShownButNotTheSecretsInThem() {
        Object matches =
                view("""
                          - name: shop
                            rules:
                              - matches:
                                  - path: {type: RegularExpression, value: "/a[0-9]+"}
                                    method: POST
                                    headers: [{name: authorization, value: "${TOKEN}"}, {name: x-tier, value: gold}]
                                    queryParams: [{name: v, type: RegularExpression, value: "1|2"}]
                                  - path: {type: Exact, value: /b}
                                backendRefs: [{name: app}]
                        """)
                        .get(0)
                        .get("matches");
        assertThat(matches)
                .isEqualTo(List.of(
                        Map.of(
                                "path",
                                "RegularExpression /a[0-9]+",
                                "method",
                                "POST",
                                "headers",
                                List.of("authorization = ***", "x-tier = gold"),
                                "queryParams",
                                List.of("v matching 1|2"),
                                "at",
                                "gateway.yaml:11:13"),
                        Map.of("path", "Exact /b", "at", "gateway.yaml:15:13")));
    }

    @Test
    void filtersAreShownInTheOrderInWhichTheyRun() {
        assertThat(
                        view("""
                          - name: shop
                            rules:
                              - filters:
                                  - {type: Compression, compression: {}}
                                  - {type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: a, value: b}]}}
                                  - {type: IPAccess, ipAccess: {allow: [127.0.0.0/8]}}
                                backendRefs: [{name: app}]
                        """)
                                .get(0))
                .containsEntry("filters", List.of("IPAccess", "Compression", "RequestHeaderModifier"));
    }
}
