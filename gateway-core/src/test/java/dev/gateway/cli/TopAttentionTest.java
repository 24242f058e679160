package dev.gateway.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code gateway top} tells an operator to look at. */
class TopAttentionTest {
    private static List<String> of(String now) {
        JsonView reading = JsonView.parse(now);
        return TopAttention.of(reading, new TopRates(reading, null));
    }

    private static List<String> of(String before, String now) {
        JsonView reading = JsonView.parse(now);
        return TopAttention.of(reading, new TopRates(reading, JsonView.parse(before)));
    }

    @Test
    void nothingIsWrongWithAGatewayThatIsWell() {
        assertThat(
                        of(
                                """
                        {"time": 1000, "config": {"lastReloadFailed": false}, "overload": {"refusing": "nothing"},
                         "authFilesStale": 0, "memory": {"directUsedBytes": 80, "directMaxBytes": 100},
                         "eventLoops": [{"lagSeconds": 0.1}],
                         "upstreams": [{"name": "app", "endpoints": [{"state": "healthy"}, {"state": "draining"}],
                           "sources": [{"source": "dns:a", "state": "fresh"}, {"source": "dns:b", "state": "waiting"}]}],
                         "certificates": [{"listener": "web", "name": "a", "notAfterSeconds": 1814402}]}
                        """))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'config': {'lastReloadFailed': true}}|the last reload was refused; the log and /ready say why",
                "{'authFilesStale': 1}"
                        + "|files of users, tokens, groups or filters cannot be read as written; /ready says why",
                "{'overload': {'refusing': 'connections'}}|overloaded: new connections are refused",
                "{'overload': {'refusing': 'requests'}}|overloaded: new requests are refused",
                "{'eventLoops': [{'lagSeconds': 0.01}, {'lagSeconds': 1.25}]}"
                        + "|an event loop kept its tasks waiting for 1.3 s",
                "{'memory': {'directUsedBytes': 86, 'directMaxBytes': 100}}|direct memory: 86 % are in use"
            },
            quoteCharacter = '"')
    void eachTroubleIsALine(String reading, String line) {
        assertThat(of(reading.replace('\'', '"'))).containsExactly(line);
    }

    @ParameterizedTest
    @CsvSource({"8, 10, 4", "12, 8, 5"})
    void anAccessLogThatDropsLinesNowIsTold(int dropped, int before, int seconds) {
        assertThat(of(
                        "{\"time\": 1000, \"accessLog\": {\"dropped\": " + before + "}}",
                        "{\"time\": " + seconds + "000, \"accessLog\": {\"dropped\": " + dropped + "}}"))
                .isEqualTo(dropped > before ? List.of("the access log drops lines") : List.of());
    }

    private static String list(int count, String each) {
        return IntStream.range(0, count)
                .mapToObj(i -> each.replace("#", Integer.toString(i)))
                .collect(Collectors.joining(", ", "[", "]"));
    }

    @Test
    void theThreeWorstUpstreamsAreNamedAndTheRestCounted() {
        String upstreams =
                "[{\"name\": \"half\", \"endpoints\": [{\"state\": \"ejected\"}, {\"state\": \"healthy\"}]}, "
                        + list(4, "{\"name\": \"dead#\", \"endpoints\": [{\"state\": \"unreachable\"}]}")
                                .substring(1);
        assertThat(of("{\"upstreams\": " + upstreams + "}"))
                .containsExactly(
                        "upstream dead0: 1 of 1 endpoints not healthy",
                        "upstream dead1: 1 of 1 endpoints not healthy",
                        "upstream dead2: 1 of 1 endpoints not healthy",
                        "2 more upstreams have endpoints that are not healthy");
    }

    /** One that drains is wanted; all that drain leave nobody to answer. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[{'state': 'draining'}, {'state': 'draining'}]|all 2 endpoints drain, so requests get 503",
                "[{'state': 'draining'}]|its endpoint drains, so requests get 503",
                "[{'state': 'draining'}, {'state': 'ejected'}]|2 of 2 endpoints not healthy",
                "[{'state': 'draining'}, {'state': 'ejected'}, {'state': 'healthy'}]|1 of 3 endpoints not healthy",
                "[]|has no endpoints, so requests get 503"
            },
            quoteCharacter = '"')
    void anUpstreamThatNobodyServesIsTold(String endpoints, String line) {
        assertThat(of(("{'upstreams': [{'name': 'app', 'endpoints': " + endpoints + "}]}").replace('\'', '"')))
                .containsExactly("upstream app: " + line);
        assertThat(of("{\"upstreams\": [{\"name\": \"connect\", \"endpoints\": [], \"namedByRequests\": true}]}"))
                .isEmpty();
    }

    @Test
    void threeStaleSourcesAreNamedAndTheRestCounted() {
        assertThat(of("{\"upstreams\": "
                        + list(
                                5,
                                "{\"name\": \"u#\", \"endpoints\": [{\"state\": \"healthy\"}], \"sources\": [{\"source\": \"dns:#.test\", \"state\": \"stale\"}]}")
                        + "}"))
                .containsExactly(
                        "upstream u0: dns:0.test fails, so its endpoints may be out of date",
                        "upstream u1: dns:1.test fails, so its endpoints may be out of date",
                        "upstream u2: dns:2.test fails, so its endpoints may be out of date",
                        "2 more sources of endpoints fail");
    }

    @Test
    void certificatesThatEndWithinThreeWeeksAreToldSoonestFirst() {
        assertThat(
                        of(
                                """
                        {"time": 86400000, "certificates": [
                          {"listener": "web", "name": "late", "notAfterSeconds": 1900801},
                          {"listener": "web", "name": "soon", "notAfterSeconds": 1900799},
                          {"listener": "web", "name": "sooner", "notAfterSeconds": 180000},
                          {"upstream": "app", "name": "gone", "notAfterSeconds": 86399},
                          {"upstream": "app", "name": "gone", "notAfterSeconds": 99999999}]}
                        """))
                .containsExactly(
                        "the certificate of gone (app) has expired",
                        "the certificate of sooner (web) ends in 1 day",
                        "the certificate of soon (web) ends in 20 days");
        assertThat(of("{\"certificates\": " + list(4, "{\"listener\": \"l#\", \"name\": \"a\"}") + ", \"time\": 1000}"))
                .hasSize(4)
                .last()
                .isEqualTo("1 more certificates end soon or have expired");
    }

    private static List<String> route(int requests, String cause, int failed) {
        String route = "{\"time\": %d, \"routes\": [{\"listener\": \"web\", \"route\": \"shop\", \"requests\": %d,"
                + " \"causes\": {\"%s\": %d, \"connect_failed\": %d}}]}";
        return of(route.formatted(1_000, 0, cause, 0, 0), route.formatted(2_000, requests, cause, failed, 1));
    }

    @Test
    void aRouteIsTroubledIfOneRequestInTwentyFails() {
        assertThat(route(100, "upstream_timeout", 4))
                .containsExactly("route shop: 5 % of requests fail, most with upstream_timeout");
        assertThat(route(101, "upstream_timeout", 4)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "client_closed",
                "client_timeout",
                "policy_host",
                "proxy_auth",
                "authz_denied",
                "rate_limited",
                "no_route",
                "body_too_large",
                "max_duration",
                "idle_timeout",
                "admin_closed"
            })
    void whatClientsBringAboutIsNoTrouble(String cause) {
        assertThat(route(100, cause, 99)).isEmpty();
    }
}
