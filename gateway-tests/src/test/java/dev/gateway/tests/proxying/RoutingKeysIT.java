package dev.gateway.tests.proxying;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.tests.peer.Head;
import dev.gateway.tests.peer.Origin;
import dev.gateway.tests.peer.Origin.Behavior;
import dev.gateway.tests.peer.Peer;
import dev.gateway.tests.peer.PeerStream;
import dev.gateway.tests.peer.Peers;
import dev.gateway.tests.support.Rig;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each key of routes, matches, filters and shares, from the YAML to the wire, for clients of both protocols. */
@Timeout(60)
class RoutingKeysIT {
    /** Upstreams answer with their name, and with fields that filters of responses edit. */
    private static Behavior named(String name) {
        return (stream, head) -> {
            stream.receiveBody();
            stream.send(Head.response(200, "server", "origin", "x-tier", "one", "x-tier", "two"), false);
            stream.send(name, true);
        };
    }

    private static Origin a;
    private static Origin b;
    private static Rig rig;

    @BeforeAll
    static void start() throws Exception {
        a = Origin.start().otherwise(named("a"));
        b = Origin.start().otherwise(named("b"));
        rig = Rig.start(
                """
                listeners:
                  - {name: clear, address: 127.0.0.1, port: 0, protocol: HTTP}
                  - {name: other, address: 127.0.0.1, port: 0, protocol: HTTP, forwardedHeaders: forwarded}
                  - {name: both, address: 127.0.0.1, port: 0, protocol: HTTP, forwardedHeaders: both}
                  - {name: off, address: 127.0.0.1, port: 0, protocol: HTTP, forwardedHeaders: off}
                  - {name: usual, address: 127.0.0.1, port: 0, protocol: HTTP, forwardedHeaders: xForwarded}
                routes:
                  - parentRefs: [{name: other}, {name: both}, {name: off}, {name: usual}]
                    rules: [{backendRefs: [{name: a}]}]
                  - parentRefs: [{name: clear}]
                    hostnames: [api.shop.test]
                    rules: [{filters: [{type: DirectResponse, directResponse: {body: exact host}}]}]
                  - parentRefs: [{name: clear}]
                    hostnames: ["*.shop.test"]
                    rules: [{filters: [{type: DirectResponse, directResponse: {body: wildcard host}}]}]
                  - name: match
                    parentRefs: [{name: clear}]
                    hostnames: [match.test]
                    rules:
                      - name: exact-path
                        matches: [{path: {type: Exact, value: /exact}}]
                        filters: [{type: DirectResponse, directResponse: {body: exact}}]
                      - matches: [{path: {type: PathPrefix, value: /prefix}}, {path: {value: /alternative}}]
                        filters: [{type: DirectResponse, directResponse: {body: prefix}}]
                      - matches: [{path: {type: RegularExpression, value: "/(img|css)/[^/]+"}}]
                        filters: [{type: DirectResponse, directResponse: {body: regex}}]
                      - matches: [{method: DELETE}]
                        filters: [{type: DirectResponse, directResponse: {body: method}}]
                      - matches: [{headers: [{name: X-Tier, value: gold}]}]
                        filters: [{type: DirectResponse, directResponse: {body: header}}]
                      - matches: [{headers: [{name: X-Tier, type: RegularExpression, value: "plat.*"}]}]
                        filters: [{type: DirectResponse, directResponse: {body: header regex}}]
                      - matches: [{queryParams: [{name: v, value: "1"}]}]
                        filters: [{type: DirectResponse, directResponse: {body: query}}]
                      - matches: [{queryParams: [{name: v, type: RegularExpression, value: "[0-9]{2}"}]}]
                        filters: [{type: DirectResponse, directResponse: {body: query regex}}]
                      - matches: [{path: {value: /all}, method: PUT, headers: [{name: X-A, value: a}], queryParams: [{name: q, value: q}]}]
                        filters: [{type: DirectResponse, directResponse: {body: everything}}]
                  - parentRefs: [{name: clear}]
                    hostnames: [filter.test]
                    rules:
                      - matches: [{path: {value: /request}}]
                        filters:
                          - type: RequestHeaderModifier
                            requestHeaderModifier:
                              set: [{name: X-Set, value: new}]
                              add: [{name: X-Add, value: second}, {name: X-Anew, value: added}]
                              remove: [X-Remove, X-Anew]      # comes first, wherever it stands
                        backendRefs: [{name: a}]
                      - matches: [{path: {value: /response}}]
                        filters:
                          - type: ResponseHeaderModifier
                            responseHeaderModifier:
                              set: [{name: X-Tier, value: set}]
                              add: [{name: X-Add, value: added}]
                              remove: [Server]
                        backendRefs: [{name: a}]
                      - matches: [{path: {value: /prefix}}]
                        filters:
                          - type: URLRewrite
                            urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /v2}}
                        backendRefs: [{name: a}]
                      - matches: [{path: {value: /full}}]
                        filters:
                          - type: URLRewrite
                            urlRewrite: {hostname: inner.test, path: {type: ReplaceFullPath, replaceFullPath: /whole}}
                        backendRefs: [{name: a}]
                      - matches: [{path: {value: /own-host}}]
                        preserveHost: false
                        backendRefs: [{name: a}]
                      - matches: [{path: {value: /kept-host}}]
                        backendRefs: [{name: a}]
                      - matches: [{path: {value: /redirect}}]
                        filters:
                          - type: RequestRedirect
                            requestRedirect:
                              scheme: https
                              hostname: www.test
                              port: 8443
                              path: {type: ReplacePrefixMatch, replacePrefixMatch: /new}
                              statusCode: 308
                      - matches: [{path: {value: /direct}}]
                        filters:
                          - type: DirectResponse
                            directResponse:
                              statusCode: 418
                              contentType: application/json
                              body: '{"tea":true}'
                              headers: [{name: Cache-Control, value: no-store}]
                      # Header edits come before the rewrite and see the path that matched, whatever the order here.
                      - matches: [{path: {value: /order}}]
                        filters:
                          - type: URLRewrite
                            urlRewrite: {hostname: last.test}
                          - type: RequestHeaderModifier
                            requestHeaderModifier: {set: [{name: X-Kind, value: first}]}
                          - type: RequestHeaderModifier
                            requestHeaderModifier: {set: [{name: X-Kind, value: second}]}
                        backendRefs: [{name: a}]
                  - parentRefs: [{name: clear}]
                    hostnames: [share.test]
                    rules:
                      - matches: [{path: {value: /backends}}]
                        backendRefs: [{name: a, weight: 3}, {name: b, weight: 1}]
                      - matches: [{path: {value: /none}}]
                        backendRefs: [{name: a, weight: 0}, {name: b}]
                      - matches: [{path: {value: /nobody}}]
                        backendRefs: [{name: a, weight: 0}, {name: b, weight: 0}]
                      - matches: [{path: {value: /endpoints}}]
                        backendRefs: [{name: weighted}]
                upstreams:
                  - {name: a, endpoints: [{host: 127.0.0.1, port: %1$d}]}
                  - {name: b, endpoints: [{host: 127.0.0.1, port: %2$d}]}
                  - {name: weighted, loadBalancer: RoundRobin, endpoints: [{host: 127.0.0.1, port: %1$d, weight: 4}, {host: 127.0.0.1, port: %2$d}]}
                admin: {port: 0}
                accessLog: {format: off}
                """
                        .replace("", "")
                        .formatted(a.port(), b.port()));
    }

    @AfterAll
    static void stop() throws Exception {
        rig.close();
        a.close();
        b.close();
    }

    /** An answer, its body read. */
    private record Answer(Head head, String body) {}

    private static Answer ask(Peers protocol, String listener, String method, String target, String... fields)
            throws Exception {
        try (Peer client = protocol.connect(rig.port(listener))) {
            PeerStream stream = client.open();
            stream.send(Head.request(method, target, fields), true);
            Head head = stream.receiveFinal();
            return new Answer(head, stream.receiveBody());
        }
    }

    /** Asks for something below a path of its own, and returns what the upstream was sent. */
    private static Head forwarded(Peers protocol, String listener, String target, String sentAs, String... fields)
            throws Exception {
        a.forget();
        assertThat(ask(protocol, listener, "GET", target, fields).body()).isEqualTo("a");
        assertThat(a.requests(sentAs)).hasSize(1);
        return a.requests(sentAs).get(0);
    }

    @ParameterizedTest
    @CsvSource({
        "exact, GET, /exact,",
        "prefix, GET, /prefix,",
        "prefix, GET, /prefix/below,",
        "prefix, GET, /alternative/x,",
        "regex, GET, /img/a.png,",
        "method, DELETE, /x,",
        "header, GET, /x, gold",
        "header regex, GET, /x, platinum",
        "query, GET, /x?v=1,",
        "query regex, GET, /x?v=42,",
        "everything, PUT, /all/x?q=q,",
        // What nearly matches does not.
        "'', GET, /exact/below,",
        "'', GET, /prefixed,",
        "'', GET, /img/a/b.png,",
        "'', GET, /x, silver",
        "'', GET, /x, xplatinum",
        "'', GET, /x?v=2,",
        "'', GET, /x?v=421,",
        "'', PUT, /all,",
    })
    void aMatchTakesWhatItSays(String rule, String method, String target, String tier) throws Exception {
        for (Peers protocol : List.of(Peers.HTTP1, Peers.H2C)) {
            Answer answer = tier == null
                    ? ask(protocol, "clear", method, target, "host", "match.test", "x-a", "a")
                    : ask(protocol, "clear", method, target, "host", "match.test", "x-tier", tier);
            if (rule.isEmpty()) {
                assertThat(answer.head().status())
                        .as("%s by %s", target, protocol)
                        .isEqualTo(404);
            } else {
                assertThat(answer.body()).as("%s by %s", target, protocol).isEqualTo(rule);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "api.shop.test, exact host",
        "API.Shop.Test:8080, exact host",
        "www.shop.test, wildcard host",
        "a.b.shop.test, wildcard host",
        "shop.test, ''",
    })
    void aHostTakesWhatItSays(String host, String rule) throws Exception {
        for (Peers protocol : List.of(Peers.HTTP1, Peers.H2C)) {
            Answer answer = ask(protocol, "clear", "GET", "/", "host", host);
            if (rule.isEmpty()) {
                assertThat(answer.head().status()).as("by %s", protocol).isEqualTo(404);
            } else {
                assertThat(answer.body()).as("by %s", protocol).isEqualTo(rule);
            }
        }
    }

    /** Upstreams may read such a name as one without its empty labels, for which another rule is. */
    @ParameterizedTest
    @ValueSource(strings = {"api.shop.test..", "api..shop.test", "api.shop.test..:80", ".api.shop.test"})
    void aHostWithAnEmptyLabelIsRefused(String host) throws Exception {
        for (Peers protocol : List.of(Peers.HTTP1, Peers.H2C)) {
            a.forget();
            assertThat(ask(protocol, "other", "GET", "/labels", "host", host)
                            .head()
                            .status())
                    .as("by %s", protocol)
                    .isEqualTo(400);
            assertThat(a.requests("/labels")).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void headersOfRequestsAreEdited(Peers protocol) throws Exception {
        Head seen = forwarded(
                protocol,
                "clear",
                "/request",
                "/request",
                "host",
                "filter.test",
                "x-set",
                "old",
                "x-add",
                "first",
                "x-remove",
                "gone",
                "x-anew",
                "gone",
                "x-keep",
                "kept");
        assertThat(seen.all("x-anew")).containsExactly("added");
        assertThat(seen.all("x-set")).containsExactly("new");
        assertThat(seen.all("x-add")).containsExactly("first", "second");
        assertThat(seen.all("x-remove")).isEmpty();
        assertThat(seen.all("x-keep")).containsExactly("kept");
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void headersOfResponsesAreEdited(Peers protocol) throws Exception {
        Head head = ask(protocol, "clear", "GET", "/response", "host", "filter.test")
                .head();
        assertThat(head.all("x-tier")).containsExactly("set");
        assertThat(head.all("x-add")).containsExactly("added");
        assertThat(head.all("server")).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void hostAndPathAreRewritten(Peers protocol) throws Exception {
        assertThat(forwarded(protocol, "clear", "/prefix/x?q=1", "/v2/x", "host", "filter.test")
                        .target())
                .isEqualTo("/v2/x?q=1");
        Head full = forwarded(protocol, "clear", "/full/x?q=1", "/whole", "host", "filter.test");
        assertThat(full.target()).isEqualTo("/whole?q=1");
        assertThat(full.all("host")).containsExactly("inner.test");
        assertThat(forwarded(protocol, "clear", "/kept-host", "/kept-host", "host", "filter.test")
                        .all("host"))
                .containsExactly("filter.test");
        assertThat(forwarded(protocol, "clear", "/own-host", "/own-host", "host", "filter.test")
                        .all("host"))
                .containsExactly("127.0.0.1:" + a.port());
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void filtersOfOneKindRunInTheirOrderInTheFile(Peers protocol) throws Exception {
        Head seen = forwarded(protocol, "clear", "/order", "/order", "host", "filter.test");
        assertThat(seen.all("x-kind")).containsExactly("second");
        assertThat(seen.all("host")).containsExactly("last.test");
    }

    @ParameterizedTest
    @EnumSource(names = {"HTTP1", "H2C"})
    void aRuleMayAnswerByItself(Peers protocol) throws Exception {
        Answer redirect = ask(protocol, "clear", "GET", "/redirect/x?q=1", "host", "filter.test");
        assertThat(redirect.head().status()).isEqualTo(308);
        assertThat(redirect.head().all("location")).containsExactly("https://www.test:8443/new/x?q=1");
        Answer direct = ask(protocol, "clear", "GET", "/direct", "host", "filter.test");
        assertThat(direct.head().status()).isEqualTo(418);
        assertThat(direct.head().all("content-type")).containsExactly("application/json");
        assertThat(direct.head().all("cache-control")).containsExactly("no-store");
        assertThat(direct.body()).isEqualTo("{\"tea\":true}");
    }

    @ParameterizedTest
    @CsvSource({"usual, true, false", "other, false, true", "both, true, true", "off, false, false"})
    void theUpstreamLearnsWhoAskedInTheFormThatIsWanted(String listener, boolean xForwarded, boolean forwarded)
            throws Exception {
        for (Peers protocol : List.of(Peers.HTTP1, Peers.H2C)) {
            Head seen = forwarded(protocol, listener, "/who", "/who", "host", "shop.test");
            assertThat(seen.all("x-forwarded-for")).isEqualTo(xForwarded ? List.of("127.0.0.1") : List.of());
            assertThat(seen.all("x-forwarded-host")).isEqualTo(xForwarded ? List.of("shop.test") : List.of());
            assertThat(seen.all("forwarded")).hasSize(forwarded ? 1 : 0);
            if (forwarded) {
                assertThat(seen.get("forwarded").orElseThrow())
                        .isEqualTo("for=127.0.0.1;host=\"shop.test\";proto=http");
            }
        }
    }

    private static Map<String, Integer> shares(String path) throws Exception {
        Map<String, Integer> shares = new TreeMap<>();
        try (Peer client = Peers.H2C.connect(rig.port("clear"))) {
            for (int i = 0; i < 400; i++) {
                PeerStream stream = client.open();
                stream.send(Head.request("GET", path, "host", "share.test"), true);
                stream.receiveFinal();
                shares.merge(stream.receiveBody(), 1, Integer::sum);
            }
        }
        return shares;
    }

    @Test
    void metricsCallARuleByItsNameOrElseByItsPosition() throws Exception {
        ask(Peers.HTTP1, "clear", "GET", "/exact", "host", "match.test");
        ask(Peers.HTTP1, "clear", "GET", "/prefix", "host", "match.test");
        assertThat(rig.admin("/metrics")).contains("route=\"match/exact-path\"", "route=\"match/2\"");
    }

    @Test
    void upstreamsGetTheirSharesWithinThreePercent() throws Exception {
        assertThat(shares("/backends").get("a")).isBetween(288, 312);
        assertThat(shares("/none")).isEqualTo(Map.of("b", 400));
    }

    @Test
    void aRuleWhoseWeightsAreAllZeroAnswers500() throws Exception {
        Answer answer = ask(Peers.HTTP1, "clear", "GET", "/nobody", "host", "share.test");
        assertThat(answer.head().status()).isEqualTo(500);
    }

    @Test
    void endpointsGetTheirSharesWithinThreePercent() throws Exception {
        assertThat(shares("/endpoints").get("a")).isBetween(308, 332);
    }
}
