package dev.gateway.status;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.gateway.config.yaml.Json;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.NamedEndpoint;
import dev.gateway.observe.Records;
import dev.gateway.observe.metrics.LoopMetrics;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.Upstream;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is shown of upstreams. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // what each test's start sets
class UpstreamViewTest {
    private static final String YAML =
            """
            listeners: [{name: web, address: 127.0.0.1, port: 0, protocol: HTTP}]
            routes: [{rules: [{backendRefs: [{name: app}, {name: listed}, {name: plain}]}]}]
            upstreams:
              - name: app
                protocol: h2
                tls: {}
                loadBalancer: RoundRobin
                sessionPersistence: {sessionName: sid, keyFile: keys}
                circuitBreaker: {maxConnections: 11, maxPendingRequests: 12, maxRequests: 13}
                endpoints:
                  - {host: 127.0.0.1, port: 9001, weight: 3, zone: eu-1a}
                  - {host: 127.0.0.1, port: 9002}
              - name: listed
                endpoints: [{file: endpoints.json}]
              - name: plain
                endpoints: [{host: 127.0.0.1, port: 9003}]
            connect: [{name: out, parentRefs: [{name: web}], allow: [a.example]}]
            admin: {enabled: false}
            accessLog: {format: off}
            workers: 2
            """;

    @TempDir
    Path directory;

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private StatusRig rig;

    @BeforeEach
    void start() throws Exception {
        Files.writeString(directory.resolve("endpoints.json"), "[{\"host\": \"127.0.0.1\", \"port\": 9004}]");
        Files.writeString(directory.resolve("keys"), "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n");
        rig = StatusRig.start(YAML, directory);
    }

    @AfterEach
    void stop() {
        rig.close();
        channel.finishAndReleaseAll();
    }

    private JsonNode view() throws Exception {
        String json = Json.write(new UpstreamView(
                        rig.active(), rig.dataPlane, rig.generations.endpoints(), rig.generations.filterStates())
                .all()
                .join());
        return new ObjectMapper().readTree(json);
    }

    private JsonNode upstream(String name) throws Exception {
        for (JsonNode each : view().get("upstreams")) {
            if (each.get("name").asText().equals(name)) {
                return each;
            }
        }
        throw new AssertionError("no upstream " + name);
    }

    private Upstream app() {
        return Objects.requireNonNull(rig.active().upstream("app"));
    }

    @Test
    void thoseOfTunnelsComeLast() throws Exception {
        JsonNode view = view();
        assertThat(view.get("generation").asInt()).isEqualTo(1);
        assertThat(view.get("upstreams").findValuesAsText("name")).containsSubsequence("app", "listed", "plain", "out");
        assertThat(upstream("out").get("at").asText()).isEqualTo("gateway.yaml:17:11");
        assertThat(upstream("out").has("loadBalancer")).isFalse();
        assertThat(upstream("out").get("namedByRequests").get("endpoints").asInt())
                .isZero();
    }

    @Test
    void anUpstreamIsShownAsItIsConfigured() throws Exception {
        JsonNode app = upstream("app");
        assertThat(app.get("at").asText()).isEqualTo("gateway.yaml:4:5");
        assertThat(app.get("loadBalancer").asText()).isEqualTo("RoundRobin");
        assertThat(app.get("sessionName").asText()).isEqualTo("sid");
        assertThat(app.get("tls").asBoolean()).isTrue();
        assertThat(app.get("protocol").asText()).isEqualTo("h2");
        assertThat(app.get("limits").toString())
                .isEqualTo("{\"connections\":{\"used\":0,\"max\":11},\"pendingRequests\":{\"used\":0,\"max\":12},"
                        + "\"requests\":{\"used\":0,\"max\":13}}");
        assertThat(app.get("panic").asBoolean()).isFalse();
        assertThat(app.get("waitingBytes").asInt()).isZero();
        JsonNode plain = upstream("plain");
        assertThat(plain.get("tls").asBoolean()).isFalse();
        assertThat(plain.has("sessionName")).isFalse();
    }

    @Test
    void anEndpointIsShownWithItsConnectionsOfEachEventLoop() throws Exception {
        JsonNode endpoints = upstream("app").get("endpoints");
        JsonNode first = endpoints.get(0);
        assertThat(first.get("endpoint").asText()).isEqualTo("127.0.0.1:9001");
        assertThat(first.get("weight").asInt()).isEqualTo(3);
        assertThat(first.get("zone").asText()).isEqualTo("eu-1a");
        assertThat(first.get("state").asText()).isEqualTo("healthy");
        String none = "{\"inUse\":0,\"idle\":0,\"connecting\":0,\"pending\":0}";
        assertThat(first.get("loops").toString()).isEqualTo("[" + none + "," + none + "]");
        assertThat(endpoints.get(1).has("zone")).isFalse();
        assertThat(endpoints.get(1).get("weight").asInt()).isEqualTo(1);
        assertThat(upstream("app").get("tunnels").toString()).isEqualTo(none);
    }

    @Test
    void endpointsOfAFileHaveTheFileAsTheirSource() throws Exception {
        JsonNode listed = upstream("listed");
        JsonNode source = listed.get("sources").get(0);
        assertThat(source.get("source").asText()).isEqualTo("file:" + directory.resolve("endpoints.json"));
        assertThat(source.get("at").asText()).isEqualTo("gateway.yaml:14:17");
        assertThat(source.get("state").asText()).isEqualTo("fresh");
        assertThat(source.get("endpoints").asInt()).isEqualTo(1);
        assertThat(source.get("ageSeconds").asDouble()).isNotNegative();
        assertThat(source.has("problem")).isFalse();
        assertThat(listed.get("endpoints").get(0).get("endpoint").asText()).isEqualTo("127.0.0.1:9004");
        assertThat(listed.get("endpoints").get(0).get("source").asText())
                .isEqualTo(source.get("source").asText());
    }

    private JsonNode listed() {
        try {
            return upstream("listed");
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Metrics count only the first ones. */
    @Test
    void eachOfManyEndpointsIsShownWithWhatRunsThere() throws Exception {
        rig.close();
        Files.writeString(
                directory.resolve("endpoints.json"),
                IntStream.range(9100, 9300)
                        .mapToObj(port -> "{\"host\": \"127.0.0.1\", \"port\": " + port + "}")
                        .collect(Collectors.joining(",", "[", "]")));
        rig = StatusRig.start(YAML, directory);
        Host last =
                Objects.requireNonNull(rig.active().upstream("listed")).hosts().get(199);
        assertThat(last.requests().tryAcquire()).isTrue();
        JsonNode endpoint = upstream("listed").get("endpoints").get(199);
        assertThat(endpoint.get("endpoint").asText()).isEqualTo(last.toString());
        assertThat(endpoint.has("requests")).isFalse();
        assertThat(endpoint.get("requestsActive").asInt()).isEqualTo(1);
        List<JsonNode> after = new ArrayList<>();
        rig.reload(
                YAML.replace("- name: listed\n", "- name: listed\n    timeouts: {connect: 9s}\n"),
                () -> after.add(listed()));
        assertThat(Objects.requireNonNull(rig.active().upstream("listed")).hosts())
                .doesNotContain(last);
        assertThat(after.get(0).get("endpoints").get(199).get("requestsActive").asInt())
                .as("what began before a reload")
                .isEqualTo(1);
        last.requests().release();
        assertThat(upstream("listed").get("endpoints").findValuesAsText("requestsActive"))
                .hasSize(200)
                .containsOnly("0");
    }

    @Test
    void anEndpointThatDrainsIsShownSo() throws Exception {
        app().health().drain("127.0.0.1:9002", true);
        JsonNode endpoints = upstream("app").get("endpoints");
        assertThat(endpoints.findValuesAsText("state")).containsExactly("healthy", "draining");
        assertThat(endpoints.get(1).has("sessionsForSeconds")).isFalse();
    }

    @Test
    void anEndpointThatDrainsShowsForHowLongItKeepsItsSessions() throws Exception {
        app().health().drainButSessions("127.0.0.1:9002", 1, TimeUnit.HOURS.toNanos(2));
        JsonNode endpoints = upstream("app").get("endpoints");
        assertThat(endpoints.get(1).get("sessionsForSeconds").asDouble()).isBetween(3600.0, 7200.0);
        assertThat(endpoints.get(0).has("sessionsForSeconds")).isFalse();
        app().health().endSessions("127.0.0.1:9002", 1);
        assertThat(upstream("app").get("endpoints").get(1).has("sessionsForSeconds"))
                .isFalse();
    }

    @Test
    void whatWasCountedOfAnEndpointIsShownWithIt() throws Exception {
        LoopMetrics loop = rig.metrics.newLoop(new TimerWheel(channel.eventLoop()), () -> 0);
        ExchangeRecord record = Records.record("/", 502, Cause.CONNECT_FAILED);
        record.endpoint = new NamedEndpoint("127.0.0.1:9002");
        record.endpointIndex = 1;
        loop.onAttemptBegun(record);
        loop.onAttemptEnded(record, 0, Failure.of(Cause.CONNECT_FAILED, "refused"), false);
        loop.onAttemptBegun(record);
        JsonNode endpoints = upstream("app").get("endpoints");
        assertThat(endpoints.get(0).get("requests").asInt()).isZero();
        assertThat(endpoints.get(1).get("requests").asInt()).isEqualTo(1);
        assertThat(endpoints.get(1).get("failures").asInt()).isEqualTo(1);
        assertThat(endpoints.get(1).get("requestsActive").asInt()).isEqualTo(1);
        assertThat(endpoints.get(1).get("requestSeconds").asDouble()).isEqualTo(0.002_999);
    }
}
