package dev.gateway.status.explain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.config.yaml.Json;
import dev.gateway.connect.LocalAddresses;
import dev.gateway.connect.OwnListeners;
import dev.gateway.exchange.route.Router;
import dev.gateway.exchange.route.assembly.FilterAssembly;
import dev.gateway.exchange.route.assembly.RouteAssembly;
import dev.gateway.filter.FilterStates;
import dev.gateway.filter.SharedServices;
import dev.gateway.message.RequestHead;
import dev.gateway.message.path.PathNormalizer;
import dev.gateway.status.explain.Explanation.NearMiss;
import dev.gateway.status.explain.Explanation.OnListener;
import dev.gateway.status.explain.Explanation.Reason;
import dev.gateway.status.explain.Explanation.Verdict;
import dev.gateway.stream.ViaSignature;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.UpstreamSettings;
import dev.gateway.upstream.dial.UpstreamValues;
import io.netty.util.AsciiString;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What people are told who ask what would become of a request. */
class ExplainerTest {
    private static final String YAML =
            """
            listeners:
              - {name: web, address: 127.0.0.1, port: 8080, protocol: HTTP}
              - {name: egress, address: 127.0.0.1, port: 3128, protocol: HTTP}
              - {name: raw, address: 127.0.0.1, port: 8443, protocol: TLS, tls: {mode: Passthrough}}
            routes:
              - name: shop
                parentRefs: [{name: web}]
                hostnames: ["shop.example.com", "*.example.com"]
                rules:
                  - matches:
                      - path: {type: PathPrefix, value: /api}
                        method: GET
                        headers: [{name: x-tier, value: gold}]
                        queryParams: [{name: v, value: "1"}]
                    filters:
                      - {type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /}}}
                      - {type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: x-a, value: b}]}}
                    backendRefs: [{name: api, weight: 3}, {name: spare, weight: 1}]
                    timeouts: {request: 30s}
                  - matches: [{path: {type: Exact, value: /old}}]
                    filters: [{type: RequestRedirect, requestRedirect: {hostname: new.example.com, statusCode: 301}}]
              - name: secret
                parentRefs: [{name: web}]
                rules:
                  - matches: [{path: {type: RegularExpression, value: "/[a-z]+/x"}, headers: [{name: authorization, value: hush-hush}]}]
                    backendRefs: [{name: api}]
              - name: staff
                parentRefs: [{name: web}]
                hostnames: ["staff.test"]
                rules:
                  - filters: [{type: IPAccess, ipAccess: {deny: [192.0.2.0/24]}}]
                    backendRefs: [{name: api}]
                    hedge: {after: p99.9, budget: 7%}
              - name: raw
                parentRefs: [{name: raw}]
                hostnames: ["db.example.com"]
                rules: [{backendRefs: [{name: spare}]}]
            upstreams:
              - name: api
                endpoints: [{host: 10.0.0.1, port: 80, zone: eu-1a}, {host: 10.0.0.2, port: 80, weight: 2}]
                timeouts: {connect: 2s}
                sessionPersistence: {sessionName: sid, keyFile: keys}
              - name: spare
                endpoints: [{host: 10.0.0.3, port: 80}, {dns: spare.test, port: 81}, {srv: _http._tcp.spare.test, weight: 5}]
            connect:
              - name: out
                parentRefs: [{name: egress}]
                allowedPorts: [443]
                allow: ["api.github.com", ".example.org"]
                deny: ["bad.example.org"]
                denyPrivate: true
                pac: {path: /proxy.pac}
                parents: [{hosts: [.internal], proxy: "http://proxy.test:3128"}]
                auth: {basic: {usersFile: users}, groupsFile: groups}
                policies:
                  - {groups: [ops], allow: ["*"], allowedPorts: [22, 443]}
            """;

    private static final UpstreamSettings ANY_SETTINGS =
            UpstreamValues.builder().build();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private static Path directory;

    private final GatewayConfig config = config();

    private static GatewayConfig config() {
        try {
            Files.writeString(directory.resolve("users"), "eve:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=\n");
            Files.writeString(directory.resolve("groups"), "ops: alice bob\n");
            Files.writeString(directory.resolve("lost.html"), "lost");
            Files.writeString(directory.resolve("keys"), "0123456789abcdef0123456789abcdef\n");
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return config(YAML);
    }

    private static GatewayConfig config(String yaml) {
        LoadResult result =
                ConfigLoader.parse("gateway.yaml", yaml.getBytes(StandardCharsets.UTF_8), directory, Map.of());
        assertThat(result).as("%s", result.problems()).isInstanceOf(LoadResult.Valid.class);
        return ((LoadResult.Valid) result).config();
    }

    private Explanation explain(ExplainRequest question) {
        OwnListeners own = new OwnListeners(new LocalAddresses(Runnable::run));
        own.set(List.of(new InetSocketAddress("127.0.0.1", 3128)));
        return new Explainer(config, LiveUpstreams.NONE, own).explain(question);
    }

    private OnListener request(String method, String host, String path, String... headers) {
        return explain(new ExplainRequest("web", null, method, host, path, List.of(headers), null, Set.of(), null))
                .listeners()
                .get(0);
    }

    private OnListener connect(String target, @Nullable String identity) {
        return explain(new ExplainRequest("egress", target, "GET", null, "/", List.of(), identity, Set.of(), null))
                .listeners()
                .get(0);
    }

    /** Where a text stands in the configuration, as editors write it. */
    private static String place(String text) {
        return placeIn(YAML, text);
    }

    private static String placeIn(String yaml, String text) {
        int at = yaml.indexOf(text);
        assertThat(at).as(text).isNotNegative();
        return "gateway.yaml:" + (yaml.substring(0, at).lines().count() + (yaml.charAt(at - 1) == '\n' ? 1 : 0)) + ":"
                + (at - yaml.lastIndexOf('\n', at - 1));
    }

    private static List<String> texts(List<Reason> reasons) {
        return reasons.stream().map(Reason::text).toList();
    }

    @Test
    void theRuleThatTakesARequestIsNamedWithItsPlaceAndAllThatFollows() {
        OnListener web = request("GET", "shop.example.com", "/api/x?v=1", "X-Tier: gold");
        assertThat(web.verdict()).isEqualTo(Verdict.ROUTE);
        assertThat(web.summary()).isEqualTo("route shop/1");
        assertThat(texts(web.reasons()))
                .containsExactly(
                        "host shop.example.com is shop.example.com",
                        "path /api/x matches PathPrefix /api",
                        "method is GET",
                        "header x-tier = gold",
                        "query parameter v = 1");
        assertThat(web.reasons().get(0).at()).hasToString(place("\"shop.example.com\""));
        assertThat(web.reasons().get(3).at()).hasToString(place("{name: x-tier"));
        Explanation.Taken taken = Objects.requireNonNull(web.taken());
        assertThat(texts(taken.filters())).containsExactly("RequestHeaderModifier", "URLRewrite"); // as they run
        assertThat(taken.targets().get(0).share()).isEqualTo(0.75);
        assertThat(taken.targets().get(0).endpoints())
                .extracting(endpoint -> endpoint.get("endpoint"))
                .containsExactly("10.0.0.1:80", "10.0.0.2:80");
        assertThat(taken.targets().get(0).timeouts()).containsEntry("connect", "2s");
        assertThat(taken.targets().get(0).endpoints().get(0)).containsEntry("zone", "eu-1a");
        assertThat(taken.targets().get(0).sessionName()).isEqualTo("sid");
        assertThat(taken.targets().get(1).sessionName()).isNull();
        assertThat(taken.targets().get(1).endpoints())
                .extracting(endpoint -> endpoint.get("endpoint") + " " + endpoint.get("weight"))
                .containsExactly("10.0.0.3:80 1", "spare.test:81 1", "srv:_http._tcp.spare.test 5");
        assertThat(taken.timeouts()).containsEntry("request", "30s").containsEntry("backendRequest", "none");
    }

    /** The server is asked about the normal form, and others might read another path than that. */
    @Test
    void whereAFilterDecidesByThePathAnUnchangedPathHasNoOtherReading() {
        for (String filter :
                List.of("", "filters: [{type: ExternalAuth, externalAuth: {backendRef: {name: a}, path: /}}], ")) {
            Explainer explainer = new Explainer(
                    config(
                            """
                            listeners: [{name: web, address: 127.0.0.1, port: 8080, protocol: HTTP}]
                            routes: [{rules: [{%snormalizePath: false, backendRefs: [{name: a}]}]}]
                            upstreams: [{name: a, endpoints: [{host: 10.0.0.1, port: 80}]}]
                            """
                                    .formatted(filter)),
                    LiveUpstreams.NONE,
                    new OwnListeners(new LocalAddresses(Runnable::run)));
            for (String path : List.of("/a/%61", "/a/../b", "/a//b")) {
                OnListener web = explainer
                        .explain(
                                new ExplainRequest("web", null, "GET", "a.test", path, List.of(), null, Set.of(), null))
                        .listeners()
                        .get(0);
                boolean isRefused = !filter.isEmpty() && !path.equals("/a/%61");
                assertThat(web.status()).as(path).isEqualTo(isRefused ? 400 : 0);
                assertThat(web.summary().contains("otherwise than rules and filters did"))
                        .isEqualTo(isRefused);
            }
        }
    }

    @Test
    void whenARequestGoesToASecondEndpointIsSaid() {
        Explanation.Taken hedged =
                Objects.requireNonNull(request("GET", "staff.test", "/").taken());
        assertThat(hedged.more())
                .containsEntry(
                        "hedge",
                        "at another endpoint after p99.9 of the rule's answers, at least 10ms, for GET/HEAD/OPTIONS "
                                + "without a body; budget 7 % of requests");
        Explanation.Taken other = Objects.requireNonNull(
                request("GET", "shop.example.com", "/api/x?v=1", "X-Tier: gold").taken());
        assertThat(other.more()).containsKey("retry").doesNotContainKey("hedge");
    }

    @Test
    void whatTheAccessLogHasIsSaidUnlessItIsAll() {
        for (String[] each : new String[][] {
            {"", "{exchanges: none}", "none"},
            {"", "{exchanges: failed, sample: 10%}", "failed exchanges"},
            {"", "{sample: 0.25%}", "failed exchanges, and 0.25 % of the others"},
            {"exchanges: failed", "{exchanges: all}", null},
            {"exchanges: failed", "{sample: 10%}", "failed exchanges"},
            {"sample: 0%", null, "failed exchanges, and 0 % of the others"},
            {"format: \"off\"", null, "none, as there is no access log"},
        }) {
            String rule = each[1] == null ? "" : ", accessLog: " + each[1];
            GatewayConfig logged = config(
                    """
                    listeners: [{name: web, port: 8080, protocol: HTTP}]
                    routes: [{rules: [{filters: [{type: DirectResponse, directResponse: {body: ok}}]%s}]}]
                    accessLog: {%s}
                    """
                            .formatted(rule, each[0]));
            Explanation explanation = new Explainer(
                            logged, LiveUpstreams.NONE, new OwnListeners(new LocalAddresses(Runnable::run)))
                    .explain(new ExplainRequest("web", null, "GET", "a.test", "/", List.of(), null, Set.of(), null));
            Explanation.Taken taken =
                    Objects.requireNonNull(explanation.listeners().get(0).taken());
            if (each[2] == null) {
                assertThat(taken.more()).doesNotContainKey("accessLog");
            } else {
                assertThat(taken.more()).containsEntry("accessLog", each[2]);
                assertThat(ExplanationText.of(explanation)).contains("\n  accessLog: " + each[2] + "\n");
            }
        }
    }

    @Test
    void eachSettingHasALineOfItsOwn() {
        Explanation explanation =
                explain(new ExplainRequest("web", null, "GET", "staff.test", "/", List.of(), null, Set.of(), null));
        assertThat(ExplanationText.of(explanation).lines().toList())
                .containsSubsequence(
                        "    waits up to 3s if no endpoint can be reached",
                        "    budget 20 % of requests, at least 10/s",
                        "  hedge: at another endpoint after p99.9 of the rule's answers, at least 10ms, for"
                                + " GET/HEAD/OPTIONS without a body",
                        "    budget 7 % of requests",
                        "  preserveHost: true",
                        "  upgrades: websocket")
                .anyMatch(line -> line.startsWith("  retry: up to 1 for GET/HEAD/OPTIONS after "))
                .noneMatch(line -> line.contains("retries"));
    }

    /** As the router does. */
    @ParameterizedTest
    @CsvSource({
        "7500, %2F%5C%20%3F;x/c, '400: upstreams may read the path in too many ways to tell which route guards it'",
        "500, %2F%5C%20%3F;x/c, route route-1/open",
        "7500, %20/c, route route-1/open"
    })
    void aLongPathWithManyReadingsIsRefused(int length, String end, String summary) {
        GatewayConfig guarded = config(
                """
                listeners: [{name: web, port: 8080, protocol: HTTP}]
                routes:
                  - rules:
                      - name: users
                        matches: [{path: {type: RegularExpression, value: "/users/(a|b)"}}]
                        filters: [{type: IPAccess, ipAccess: {deny: [192.0.2.0/24]}}]
                        backendRefs: [{name: app}]
                      - name: open
                        backendRefs: [{name: app}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 9000}]}]
                """);
        OnListener found = new Explainer(
                        guarded, LiveUpstreams.NONE, new OwnListeners(new LocalAddresses(Runnable::run)))
                .explain(new ExplainRequest(
                        "web",
                        null,
                        "GET",
                        "a.test",
                        "/users/" + "u".repeat(length) + end,
                        List.of(),
                        null,
                        Set.of(),
                        null))
                .listeners()
                .get(0);
        assertThat(found.summary()).isEqualTo(summary);
    }

    /** As the router does. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/login/ | 400: upstreams may read the path as /login, which route route-1/login guards",
                "/login%2F | 400: upstreams may read the path as /login, which route route-1/login guards",
                "/caf%C3%A9/ | 400: upstreams may read the path as /caf%C3%A9, which route route-1/login guards",
                "/gone/ | route route-1/gone answers with 410",
                "/team/ | route route-1/open",
                "/files/ | route route-1/open",
                "/login/x | route route-1/open",
                "/ | route route-1/open"
            })
    void aSlashAtTheEndPassesNoGuard(String path, String summary) {
        GatewayConfig guarded = config(
                """
                listeners: [{name: web, port: 8080, protocol: HTTP}]
                routes:
                  - rules:
                      - name: login
                        matches:
                          - {path: {type: Exact, value: /login}}
                          - {path: {type: Exact, value: /team}}
                          - {path: {type: Exact, value: /files}}
                          - {path: {type: RegularExpression, value: "/caf%C3%A9"}}
                        filters: [{type: IPAccess, ipAccess: {deny: [192.0.2.0/24]}}]
                        backendRefs: [{name: app}]
                      - name: gone
                        matches: [{path: {type: Exact, value: /gone}}]
                        filters: [{type: DirectResponse, directResponse: {statusCode: 410}}]
                      - name: open
                        matches: [{path: {value: /}}, {path: {type: Exact, value: /team/}}, {path: {value: /files/}}]
                        backendRefs: [{name: app}]
                upstreams: [{name: app, endpoints: [{host: 10.0.0.1, port: 80}]}]
                """);
        OnListener found = new Explainer(
                        guarded, LiveUpstreams.NONE, new OwnListeners(new LocalAddresses(Runnable::run)))
                .explain(new ExplainRequest("web", null, "GET", "a.test", path, List.of(), null, Set.of(), null))
                .listeners()
                .get(0);
        assertThat(found.summary()).isEqualTo(summary);
    }

    private static OnListener onListenerWith(String settings, String path) {
        return onListenerWith(settings, path, "\"https://a.test\", \"https://b.test\"");
    }

    private static OnListener onListenerWith(String settings, String path, String origins) {
        GatewayConfig special = config(
                """
                listeners:
                  - name: web
                    port: 8080
                    protocol: HTTP
                    %s
                routes:
                  - rules:
                      - matches: [{path: {value: /own}}]
                        filters: [{type: DirectResponse, directResponse: {body: ok}}]
                      - matches: [{path: {value: /app}}]
                        backendRefs: [{name: app}]
                        webSocket: {allowedOrigins: [%s]}
                upstreams: [{name: app, endpoints: [{host: 10.0.0.1, port: 80}]}]
                """
                        .formatted(settings, origins));
        return new Explainer(special, LiveUpstreams.NONE, new OwnListeners(new LocalAddresses(Runnable::run)))
                .explain(new ExplainRequest(
                        "web", null, "GET", "a.test", path, List.of("Upgrade: websocket"), null, Set.of(), null))
                .listeners()
                .get(0);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "requestId: {header: X-Trace-Id} | the listener has requestId: X-Trace-Id, hex | 5:16 | true",
                "requestId: {format: uuid} | the listener has requestId: X-Request-Id, uuid | 5:16 | true",
                "serverHeader: {name: edge} | the listener has serverHeader: passThrough, edge | 5:19 | true",
                "serverHeader: {transformation: appendIfAbsent}"
                        + " | the listener has serverHeader: appendIfAbsent, gateway | 5:19 | true",
                "serverHeader: {transformation: remove} | the listener has serverHeader: remove | 5:19 | true",
                "limits: {maxBody: 1KiB} | a body of more than 1KiB gets 413 | 5:13 | true",
                "ipAccess: {deny: [192.0.2.1]} | ipAccess of the listener may refuse the connection | 5:15 | true",
                "via: always | the listener has via: always | 2:5 | false",
                "forwardedHeaders: both | the listener has forwardedHeaders: both | 2:5 | false",
                "headersWithUnderscores: allow | the listener has headersWithUnderscores: allow | 2:5 | true",
                "errorPages: {pages: [{statuses: [404], files: [lost.html]}]}"
                        + " | the listener has ErrorPages: 404 from lost.html | 5:17 | true",
            })
    void whatTheListenerHasOfItsOwnIsTold(String settings, String text, String place, boolean always) {
        assertThat(onListenerWith(settings, "/app").reasons())
                .filteredOn(reason -> reason.text().equals(text))
                .singleElement()
                .satisfies(reason -> assertThat(reason.at()).hasToString("gateway.yaml:" + place));
        for (String path : List.of("/own", "/other")) {
            assertThat(texts(onListenerWith(settings, path).reasons()).contains(text))
                    .as(path)
                    .isEqualTo(always);
        }
    }

    @Test
    void ofAListenerThatHasTheDefaultsNothingIsTold() {
        OnListener web = onListenerWith(
                """
                requestId: {header: x-request-id}
                    serverHeader: {name: gateway}
                    via: auto
                    limits: {maxHeaders: 9}
                """
                        .strip(),
                "/app");
        assertThat(texts(web.reasons())).noneMatch(text -> text.contains("listener") || text.contains("413"));
        assertThat(onListenerWith("", "/other").reasons()).isEmpty();
    }

    @Test
    void whoseWebSocketsARuleTakesIsTold() {
        assertThat(texts(onListenerWith("", "/app").reasons()))
                .containsSubsequence(
                        "upgrade to websocket is listed in upgrades",
                        "pages of other origins than https://a.test, https://b.test get 403 for it");
    }

    @Test
    void ofManyOriginsThatARuleTakesOnlyTheFirstAreTold() {
        String many = IntStream.range(0, 100)
                .mapToObj(i -> "\"https://" + i + ".test\"")
                .collect(Collectors.joining(", "));
        assertThat(texts(onListenerWith("", "/app", many).reasons()))
                .filteredOn(text -> text.startsWith("pages of other origins than https://0.test, https://1.test, "))
                .singleElement()
                .satisfies(
                        text -> assertThat(text).endsWith("... get 403 for it").hasSizeLessThan(120));
    }

    @ParameterizedTest
    @CsvSource({"CONNECT, 403", "GET, 200", "POST, 404"})
    void whoMayConnectToAForwardProxyIsToldToo(String method, int status) {
        String place = "{deny: [192.0.2.9]}";
        String yaml = YAML.replace("port: 3128,", "port: 3128, ipAccess: " + place + ",");
        boolean tunnel = method.equals("CONNECT");
        OnListener egress = new Explainer(
                        config(yaml), LiveUpstreams.NONE, new OwnListeners(new LocalAddresses(Runnable::run)))
                .explain(new ExplainRequest(
                        "egress",
                        tunnel ? "other.test:443" : null,
                        tunnel ? "GET" : method,
                        "a.test",
                        "/proxy.pac",
                        List.of(),
                        null,
                        Set.of(),
                        null))
                .listeners()
                .get(0);
        assertThat(egress.status()).isEqualTo(status);
        assertThat(egress.reasons())
                .filteredOn(reason -> reason.text().equals("ipAccess of the listener may refuse the connection"))
                .singleElement()
                .satisfies(reason -> assertThat(reason.at()).hasToString(placeIn(yaml, place)));
    }

    @Test
    void theCookieOfSessionsIsNamed() {
        Explanation explanation = explain(new ExplainRequest(
                "web", null, "GET", "shop.example.com", "/api?v=1", List.of("X-Tier: gold"), null, Set.of(), null));
        assertThat(ExplanationText.of(explanation)).contains("sessionPersistence: cookie sid");
        assertThat(Json.write(explanation.json())).containsOnlyOnce("\"sessionName\": \"sid\"");
    }

    @Test
    void whatLacksLeastComesFirstAmongWhatDoesNotMatch() {
        OnListener web = request("POST", "www.example.com", "/api?v=1", "X-Tier: gold");
        assertThat(web.verdict()).isEqualTo(Verdict.REFUSED);
        assertThat(web.status()).isEqualTo(404);
        NearMiss nearest = web.nearMisses().get(0);
        assertThat(nearest.name()).isEqualTo("shop/1");
        assertThat(texts(nearest.misses())).containsExactly("method is POST, not GET");
        assertThat(texts(nearest.fits())).contains("host www.example.com is *.example.com");
    }

    @Test
    void aHostThatIsRightAndAPathThatIsNotAreToldApart() {
        NearMiss nearest =
                request("GET", "shop.example.com", "/older").nearMisses().get(0);
        assertThat(nearest.name()).isEqualTo("shop/2");
        assertThat(texts(nearest.fits())).containsExactly("host shop.example.com is shop.example.com");
        assertThat(texts(nearest.misses())).containsExactly("path /older does not match Exact /old");
    }

    @Test
    void theListenersOwnPageComesBeforeRoutes() {
        OnListener egress = explain(new ExplainRequest(
                        "egress", null, "GET", "a.test", "/proxy.pac?x", List.of(), null, Set.of(), null))
                .listeners()
                .get(0);
        assertThat(egress.status()).isEqualTo(200);
        assertThat(egress.summary()).contains("auto-configuration");
    }

    @Test
    void anUpgradeThatIsNotListedIsSaidToBeIgnored() {
        OnListener web = request("GET", "shop.example.com", "/api?v=1", "X-Tier: gold", "Upgrade: other");
        assertThat(texts(web.reasons())).contains("upgrade to other is not listed in upgrades, so it is ignored");
    }

    @Test
    void aRedirectAnswersByItself() {
        OnListener web = request("GET", "shop.example.com", "/a/../old");
        assertThat(web.verdict()).isEqualTo(Verdict.ANSWERED);
        assertThat(web.status()).isEqualTo(301);
    }

    @Test
    void aSecretOfTheConfigurationIsNotTold() {
        Explanation explanation = explain(new ExplainRequest(
                null, null, "GET", "other.test", "/a/x", List.of("Authorization: guess"), null, Set.of(), null));
        assertThat(ExplanationText.of(explanation)).contains("no header authorization = ***");
        assertThat(ExplanationText.of(explanation) + Json.write(explanation.json()))
                .doesNotContain("hush-hush");
    }

    @ParameterizedTest
    @CsvSource({"TRACE,/,405", "GET,/a/%2e%2e/%2e%2e/..%00,400", "OPTIONS,*,200"})
    void whatNeverComesToARouteSaysSo(String method, String path, int status) {
        assertThat(request(method, "other.test", path).status()).isEqualTo(status);
    }

    @Test
    void aConnectionThatIsPassedOnIsRoutedByItsName() {
        OnListener raw = explain(
                        new ExplainRequest("raw", null, "GET", "db.example.com", "/", List.of(), null, Set.of(), null))
                .listeners()
                .get(0);
        assertThat(raw.summary()).isEqualTo("route raw");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            textBlock =
                    """
                    api.github.com:443 | -     | ALLOWED | 0   | "api.github.com"
                    a.example.org:443  | -     | ALLOWED | 0   | ".example.org"
                    bad.example.org:443| -     | REFUSED | 403 | "bad.example.org"
                    other.test:443     | -     | REFUSED | 403 | name: out
                    other.test:443     | eve   | REFUSED | 403 | name: out
                    other.test:22      | alice | ALLOWED | 0   | "*"
                    api.github.com:22  | -     | REFUSED | 403 | name: out
                    127.0.0.1:443      | bob   | REFUSED | 403 | name: out
                    metadata.google.internal:443 | bob | REFUSED | 403 | name: out
                    wiki.internal:443  | bob   | ALLOWED | 0   | "*"
                    127.1:443          | bob   | REFUSED | 403 | {groups: [ops]
                    api.github.com     | -     | REFUSED | 400 | -
                    """)
    void aTunnelIsJudgedAsItWouldBeAndByWhichLine(
            String target, @Nullable String identity, Verdict verdict, int status, @Nullable String line) {
        OnListener egress = connect(target, identity);
        assertThat(egress.verdict()).isEqualTo(verdict);
        assertThat(egress.status()).isEqualTo(status);
        if (line != null) {
            assertThat(egress.reasons())
                    .as("%s", egress.reasons())
                    .anyMatch(reason ->
                            reason.at() != null && reason.at().toString().equals(place(line)));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "http://a.example.org:443/x?y,ALLOWED,connect entry out lets it through",
        "http://a.example.org/x,REFUSED,403: a.example.org:80",
        "http://bad.example.org:443,REFUSED,403: bad.example.org:443"
    })
    void aWholeUriThatNoRouteTakesComesUnderThePolicyOfTunnels(String uri, Verdict verdict, String summary) {
        OnListener egress = explain(
                        new ExplainRequest("egress", null, "GET", null, uri, List.of(), null, Set.of(), null))
                .listeners()
                .get(0);
        assertThat(egress.verdict()).isEqualTo(verdict);
        assertThat(egress.summary()).startsWith(summary);
        OnListener web =
                request("GET", "ignored.test", uri.replaceAll("[a-z]+.example.org(:443)?", "shop.example.com"));
        assertThat(web.summary()).as("on a listener without tunnels").isEqualTo("404: no route matches");
    }

    @Test
    void aWholeUriTakesTheRouteOfItsHost() {
        assertThat(request("GET", "ignored.test", "http://shop.example.com/old?x")
                        .status())
                .isEqualTo(301);
    }

    @Test
    void aNameMuchLikeOneThatIsAllowedIsPointedOut() {
        assertThat(connect("github.com:443", null).nearMisses())
                .extracting(NearMiss::name)
                .containsExactly("api.github.com");
        assertThat(connect("api.github.com:8443", null)
                        .nearMisses()
                        .get(0)
                        .misses()
                        .get(0)
                        .text())
                .isEqualTo("[443] has no 8443");
    }

    @Test
    void aFilterThatMayRefuseTheRequestIsNamed() {
        OnListener web = request("GET", "staff.test", "/");
        assertThat(web.summary()).isEqualTo("route staff");
        Reason last = web.reasons().get(web.reasons().size() - 1);
        assertThat(last.text()).isEqualTo("IPAccess may refuse it");
        assertThat(last.at()).hasToString(place("{deny: [192.0.2.0/24]}"));
    }

    @Test
    void aListenerWithoutTunnelsSaysSo() {
        assertThat(explain(new ExplainRequest("web", "a.test:443", "GET", null, "/", List.of(), null, Set.of(), null))
                        .listeners()
                        .get(0)
                        .status())
                .isEqualTo(405);
    }

    @ParameterizedTest
    @ValueSource(strings = {"relative", "/a b", "*"})
    void aQuestionThatIsNoRequestIsRefused(String path) {
        assertThatThrownBy(() -> request("GET", "a.test", path)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> request("GE T", "a.test", "/")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> request("GET", "a b", "/")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> request("GET", "a.test", "/", "no colon"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void anExplanationComesToWhatTheRouterDoes() throws Exception {
        Map<String, Upstream> upstreams = new HashMap<>();
        for (String name : List.of("api", "spare")) {
            upstreams.put(name, new Upstream(name, List.of(), RoundRobin::new, ANY_SETTINGS));
        }
        Router router = RouteAssembly.routers(
                        config,
                        upstreams,
                        route -> ViaSignature.random(),
                        new FilterAssembly(new FilterStates().prepare(), new SharedServices(), upstreams, false))
                .get(0);
        Random random = new Random(7);
        List<String> hosts =
                List.of("shop.example.com", "SHOP.example.com.", "a.b.example.com:80", "example.com", "x.test");
        List<String> paths =
                List.of("/api", "/api/", "/apix", "/api/../old", "/old", "/abc/x", "/%61pi/x", "//api", "/");
        List<String> queries = List.of("", "?v=1", "?v=2&v=1", "?v=%31");
        int matched = 0;
        for (int i = 0; i < 3_000; i++) {
            List<String> headers = new ArrayList<>();
            if (random.nextBoolean()) {
                headers.add("x-tier: " + (random.nextBoolean() ? "gold" : "tin"));
            }
            if (random.nextInt(4) == 0) {
                headers.add("authorization: hush-hush");
            }
            ExplainRequest question = new ExplainRequest(
                    "web",
                    null,
                    random.nextInt(3) == 0 ? "POST" : "GET",
                    hosts.get(random.nextInt(hosts.size())),
                    paths.get(random.nextInt(paths.size())) + queries.get(random.nextInt(queries.size())),
                    headers,
                    null,
                    Set.of(),
                    null);
            RequestHead head = question.head();
            head.setPath(Objects.requireNonNull(
                    PathNormalizer.normalize(new AsciiString(head.path().toString()))));
            Router.Match match = router.match(head);
            OnListener told = explain(question).listeners().get(0);
            assertThat(told.taken() == null ? null : told.taken().name())
                    .as("%s %s", question, headers)
                    .isEqualTo(match == null ? null : match.route().name());
            matched += match == null ? 0 : 1;
        }
        assertThat(matched).isBetween(300, 2_700);
    }
}
