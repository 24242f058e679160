package dev.gateway.status;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.admin.AdminResponse;
import dev.gateway.admin.DirectQuestions;
import dev.gateway.upstream.SessionPersistence;
import dev.gateway.upstream.Upstream;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who asks a running gateway about a request is told how the endpoints are, and which of them gets it. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // what the start sets
class ExplainedEndpointsTest {
    @TempDir
    static Path directory;

    private static StatusRig rig;

    @BeforeAll
    static void start() throws Exception {
        Files.writeString(directory.resolve("keys"), "0123456789abcdef0123456789abcdef\n");
        Files.writeString(
                directory.resolve("eps.yaml"), "[{host: 127.0.0.1, port: 9301}, {host: 127.0.0.1, port: 9302}]");
        Files.writeString(directory.resolve("none.yaml"), "[]");
        Files.writeString(
                directory.resolve("many.yaml"),
                IntStream.range(9600, 9660)
                        .mapToObj(port -> "- {host: 127.0.0.1, port: " + port + "}\n")
                        .collect(Collectors.joining()));
        rig = StatusRig.start(
                """
                listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
                routes:
                  - rules:
                      - {matches: [{path: {value: /client}}], backendRefs: [{name: client}]}
                      - matches: [{path: {value: /user}}]
                        filters: [{type: RequestHeaderModifier, requestHeaderModifier: {remove: [x-secret]}}]
                        backendRefs: [{name: user}]
                      - {matches: [{path: {value: /cart}}], backendRefs: [{name: files}, {name: cart}]}
                      - matches: [{path: {value: /none}}]
                        backendRefs: [{name: files, weight: 0}, {name: cart, weight: 0}]
                      - {matches: [{path: {value: /many}}], backendRefs: [{name: many}]}
                      - {matches: [{path: {value: /zones}}], backendRefs: [{name: zones}]}
                      - {matches: [{path: {value: /empty}}], backendRefs: [{name: empty}]}
                upstreams:
                  - name: client
                    loadBalancer: {policy: Hash, hash: [{client: true}]}
                    endpoints: [{host: 127.0.0.1, port: 9101}, {host: 127.0.0.1, port: 9102}, {host: 127.0.0.1, port: 9103}]
                  - name: user
                    loadBalancer: {policy: Hash, hash: [{cookie: user}, {header: x-user}]}
                    endpoints: [{host: 127.0.0.1, port: 9201}, {host: 127.0.0.1, port: 9202}]
                  - {name: files, loadBalancer: RoundRobin, endpoints: [{file: eps.yaml, weight: 3}]}
                  - name: cart
                    sessionPersistence: {sessionName: sid, keyFile: keys}
                    endpoints: [{host: 127.0.0.1, port: 9401}, {host: 127.0.0.1, port: 9402}]
                  - name: zones
                    endpoints:
                      - {host: 127.0.0.1, port: 9501, zone: a}
                      - {host: 127.0.0.1, port: 9502, zone: a}
                      - {host: 127.0.0.1, port: 9503, zone: b}
                      - {host: 127.0.0.1, port: 9504, zone: b}
                  - {name: empty, endpoints: [{file: none.yaml}]}
                  - {name: many, endpoints: [{file: many.yaml}]}
                localZone: a
                admin: {enabled: false}
                accessLog: {format: off}
                workers: 1
                """,
                directory);
        new StatusPages(() -> rig.active(), rig.listeners, rig.dataPlane, rig.certificates, rig.generations, null)
                .addTo(rig.pages);
    }

    @AfterAll
    static void stop() {
        rig.close();
    }

    private static String text(String query) {
        AdminResponse answer = DirectQuestions.get(rig.pages, "/explain?" + query);
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.text();
    }

    private static JsonNode target(String query, int index) throws IOException {
        return new ObjectMapper().readTree(text(query + "&format=json")).at("/listeners/0/taken/upstreams/" + index);
    }

    private static JsonNode choice(String query) throws IOException {
        return target(query, 0).get("choice");
    }

    @Test
    void aHashOfTheClientsAddressAlwaysLeadsToTheSameEndpoint() throws IOException {
        Set<String> endpoints = new HashSet<>();
        for (int i = 0; i < 20; i++) {
            JsonNode choice = choice("path=/client&client=192.0.2." + i);
            assertThat(choice.get("by").asText()).isEqualTo("hash");
            assertThat(choice("path=/client&client=192.0.2." + i)).isEqualTo(choice);
            assertThat(choice.get("text").asText())
                    .isEqualTo(choice.get("endpoint").asText() + ", by hash");
            endpoints.add(choice.get("endpoint").asText());
        }
        assertThat(endpoints).hasSize(3);
        assertThat(text("path=/client&client=192.0.2.1"))
                .startsWith("GET /client from 192.0.2.1\n")
                .contains(
                        "loadBalancer: Hash of client address\n",
                        "endpoint 127.0.0.1:9101, weight 1, state healthy, getsRequests true, source static");
    }

    @Test
    void withoutTheClientsAddressItsHashIsNotKnown() throws IOException {
        JsonNode choice = choice("path=/client");
        assertThat(choice.has("endpoint")).isFalse();
        assertThat(choice.get("text").asText()).isEqualTo("depends on the address of the client, which --client names");
    }

    @Test
    void whatIsHashedMayBeChangedByFiltersOrBeMissing() throws IOException {
        JsonNode choice = choice("path=/user&header=x-user:7");
        assertThat(choice.get("by").asText()).isEqualTo("hash");
        assertThat(choice.get("text").asText()).endsWith(", by hash, unless a filter changes what is hashed");
        assertThat(choice("path=/user").get("text").asText())
                .isEqualTo("by Hash, as the request has nothing that is hashed: one of 127.0.0.1:9201, 127.0.0.1:9202");
        assertThat(text("path=/user")).contains("loadBalancer: Hash of cookie user, header x-user\n");
    }

    @Test
    void aDrainedEndpointIsShownAndNotChosen() throws IOException {
        String before = choice("path=/user&header=x-user:8").get("endpoint").asText();
        try {
            rig.endpointDrain.drain("user", before, null, "a test").join();
            JsonNode choice = choice("path=/user&header=x-user:8");
            assertThat(choice.get("text").asText()).endsWith(", the only one that gets requests");
            assertThat(choice.get("endpoint").asText()).isNotEqualTo(before);
            assertThat(text("path=/user"))
                    .contains("endpoint " + before + ", weight 1, state draining, getsRequests false");
        } finally {
            rig.endpointDrain.undrain("user", before, "a test").join();
        }
    }

    @Test
    void theSessionOfARequestChoosesUpstreamAndEndpoint() throws IOException {
        Upstream cart = Objects.requireNonNull(rig.active().upstream("cart"));
        SessionPersistence sessions = Objects.requireNonNull(cart.sessions());
        String cookie =
                sessions.begin(cart.endpoints().get(1), false).toString().replaceAll(";.*", "");
        String query = "path=/cart&header=" + URLEncoder.encode("Cookie: " + cookie, StandardCharsets.UTF_8);
        assertThat(text(query))
                .contains(
                        "the session of its cookie leads to upstream cart, whatever the weights",
                        "=> endpoint 127.0.0.1:9402, by the session of its cookie")
                .doesNotContain(cookie.substring("sid=".length()));
        rig.endpointDrain
                .drain("cart", "127.0.0.1:9402", Duration.ZERO, "a test")
                .join();
        try {
            assertThat(target(query, 1).at("/choice/text").asText())
                    .isEqualTo("127.0.0.1:9401, the only one that gets requests; the endpoint of its session takes no"
                            + " requests now, so a new one begins there");
        } finally {
            rig.endpointDrain.undrain("cart", "127.0.0.1:9402", "a test").join();
        }
        assertThat(target("path=/cart&header=Cookie:sid%3Dforged", 1)
                        .at("/choice/text")
                        .asText())
                .isEqualTo("by LeastRequest: one of 127.0.0.1:9401, 127.0.0.1:9402; the request has no session, so one"
                        + " begins there");
    }

    @Test
    void endpointsOfAFileAreShownWithTheirSource() throws IOException {
        JsonNode files = target("path=/cart", 0);
        assertThat(files.get("endpoints").findValuesAsText("endpoint"))
                .containsExactly("127.0.0.1:9301", "127.0.0.1:9302");
        assertThat(files.at("/endpoints/0/weight").asDouble()).isEqualTo(1.5);
        assertThat(files.at("/endpoints/0/at").asText())
                .isEqualTo(files.at("/sources/0/at").asText());
        assertThat(files.at("/sources/0/source").asText()).isEqualTo("file:" + directory.resolve("eps.yaml"));
        assertThat(files.at("/sources/0/state").asText()).isEqualTo("fresh");
        assertThat(files.at("/sources/0/endpoints").asInt()).isEqualTo(2);
    }

    @Test
    void theZoneOfTheGatewayIsPreferred() throws IOException {
        JsonNode choice = choice("path=/zones");
        assertThat(choice.get("by").asText()).isEqualTo("balancer");
        assertThat(choice.get("text").asText())
                .isEqualTo("by LeastRequest: in 100.0 % of cases in zone a: one of 127.0.0.1:9501, 127.0.0.1:9502");
    }

    @Test
    void whyNoEndpointGetsTheRequestIsSaid() throws IOException {
        JsonNode choice = choice("path=/empty");
        assertThat(choice.get("by").asText()).isEqualTo("none");
        assertThat(choice.get("text").asText()).startsWith("none: empty has no endpoints: file:");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "me",
                "",
                "192.0.2.7:_me",
                "192.0.2.7:",
                "192.0.2.7:0",
                "192.0.2.7:65536",
                "[::1]x",
                "[::1]x:80",
                "[::1]:y",
                "[",
                "[]"
            })
    void whatIsNoAddressIsABadQuestion(String client) {
        AdminResponse answer = DirectQuestions.get(rig.pages, "/explain?path=/&client=" + client);
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.text()).isEqualTo("client: expected an IP address, not " + client + "\n");
    }

    @ParameterizedTest
    @CsvSource({
        "192.0.2.7, 192.0.2.7",
        "192.0.2.7:080, 192.0.2.7:80",
        "2001:DB8:0::1, 2001:db8::1",
        "[2001:DB8::1], 2001:db8::1",
        "[2001:DB8::1]:80, [2001:db8::1]:80",
        "::ffff:192.0.2.7, 192.0.2.7"
    })
    void theAddressIsShownAsItWasRead(String client, String shown) {
        assertThat(text("path=/client&client=" + client)).startsWith("GET /client from " + shown + "\n");
    }

    @Test
    void aSessionDecidesOnlyWhereAnUpstreamIsChosen() {
        Upstream cart = Objects.requireNonNull(rig.active().upstream("cart"));
        String cookie = Objects.requireNonNull(cart.sessions())
                .begin(cart.endpoints().get(1), false)
                .toString()
                .replaceAll(";.*", "");
        String header = "&header=" + URLEncoder.encode("Cookie: " + cookie, StandardCharsets.UTF_8);
        for (String query : List.of("path=/cart", "path=/none", "path=/cart&method=CONNECT")) {
            assertThat(text(query + header).contains("the session of its cookie leads to"))
                    .as(query)
                    .isEqualTo(query.equals("path=/cart"));
        }
        assertThat(text("path=/none" + header)).contains("as all of its weights are 0");
    }

    @Test
    void ofManyEndpointsTheFirstAreListed() throws IOException {
        JsonNode many = target("path=/many", 0);
        assertThat(many.get("endpoints")).hasSize(50);
        assertThat(many.get("moreEndpoints").asInt()).isEqualTo(10);
        assertThat(text("path=/many"))
                .contains("endpoint 127.0.0.1:9649,", "and 10 endpoints more\n")
                .doesNotContain("127.0.0.1:9650");
        assertThat(target("path=/cart", 0).has("moreEndpoints")).isFalse();
    }
}
