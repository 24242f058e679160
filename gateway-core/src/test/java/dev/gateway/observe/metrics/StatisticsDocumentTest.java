package dev.gateway.observe.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.observe.NamedEndpoint;
import dev.gateway.observe.Records;
import dev.gateway.observe.metrics.state.CertificateExpiry;
import dev.gateway.observe.metrics.state.UpstreamState;
import dev.gateway.observe.metrics.state.UpstreamState.EndpointState;
import dev.gateway.overload.Overload;
import dev.gateway.overload.memory.MemoryBudget;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.HandshakeFailure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.UpstreamObserver;
import dev.gateway.time.TimerWheel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the statistics say to programs, of which the operator's guide describes the members. */
class StatisticsDocumentTest {
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final Metrics metrics = new Metrics("1.2.3");
    private final LoopMetrics first = metrics.newLoop(new TimerWheel(channel.eventLoop()), () -> 5);
    private final LoopMetrics second = metrics.newLoop(new TimerWheel(channel.eventLoop()), () -> 6);

    @AfterEach
    void close() {
        metrics.close();
        channel.finishAndReleaseAll();
    }

    private JsonNode document() throws Exception {
        return new ObjectMapper().readTree(metrics.statsJson());
    }

    private static void exchange(LoopMetrics loop, ExchangeRecord record) {
        loop.onBegun(record);
        loop.onAttemptBegun(record);
        loop.onAttemptEnded(record, record.status, null, false);
        loop.onCompleted(record);
    }

    @Test
    void theBuildAndTheConfigurationAreTold() throws Exception {
        metrics.onReload(true);
        metrics.onGeneration(4, 1);
        JsonNode document = document();
        assertThat(document.at("/schema").asInt()).isEqualTo(1);
        assertThat(document.at("/build").toString())
                .isEqualTo("{\"version\":\"1.2.3\",\"java\":\"" + ProcessMeters.javaVersion() + "\"}");
        assertThat(document.at("/config").toString())
                .isEqualTo("{\"generation\":4,\"generationsDraining\":1,\"reloadsSucceeded\":1,\"reloadsFailed\":0,"
                        + "\"lastReloadFailed\":false}");
        metrics.onReload(false);
        assertThat(document().at("/config/lastReloadFailed").asBoolean()).isTrue();
        metrics.onReload(true);
        assertThat(document().at("/config/lastReloadFailed").asBoolean())
                .as("it is of the last one")
                .isFalse();
    }

    @Test
    void aListenerTellsOfItsConnectionsRequestsAndTunnels() throws Exception {
        ConnectionObserver web = first.listener("web");
        web.onOpened(HttpVersion.HTTP_2, true);
        web.onOpened(HttpVersion.HTTP_1_1, false);
        second.listener("web").onOpened(HttpVersion.HTTP_1_1, true);
        web.onClosed(HttpVersion.HTTP_1_1, false);
        web.onConnectionRefused();
        web.onConnectionDenied();
        web.onIdleClosed();
        web.onHandshakeFailed(HandshakeFailure.CIPHER);
        web.onSocketError();
        web.onReceived(11);
        web.onSent(22);
        web.onViolation("bad_chunk");
        exchange(second, Records.record("/", 200, null));
        first.onBegun(Records.record("/", 200, null));
        ExchangeRecord tunnel = Records.tunnel(Kind.TUNNEL, 200, Cause.IDLE_TIMEOUT);
        first.onBegun(tunnel);
        first.onTunnelOpened(tunnel);
        first.onTunnelBytes(tunnel, 7, 42);
        first.onCompleted(tunnel);
        metrics.addDenials(denials -> {
            denials.denied("web", "deny", 3);
            denials.denied("gone", "deny", 9); // a listener without counters
        });
        JsonNode listener = document().at("/listeners/0");
        assertThat(document().at("/listeners").size()).isEqualTo(1);
        assertThat(listener.at("/name").asText()).isEqualTo("web");
        assertThat(listener.at("/connections").toString())
                .isEqualTo("{\"total\":3,\"active\":2,\"activeTls\":2,\"activeH2\":1,\"refused\":1,\"denied\":1,"
                        + "\"idleClosed\":1,\"handshakesFailed\":1,\"socketErrors\":1}");
        assertThat(listener.at("/requests").toString()).isEqualTo("{\"total\":3,\"active\":1}");
        assertThat(listener.at("/receivedBytes").asInt()).isEqualTo(11);
        assertThat(listener.at("/sentBytes").asInt()).isEqualTo(22);
        assertThat(listener.at("/violations").toString()).isEqualTo("{\"bad_chunk\":1}");
        assertThat(listener.at("/tunnels").toString())
                .isEqualTo("{\"total\":1,\"active\":0,\"receivedBytes\":7,\"sentBytes\":42,"
                        + "\"causes\":{\"idle_timeout\":1},\"deniedByRule\":{\"deny\":3}}");
    }

    @Test
    void aRouteTellsOfItsRequestsAndWebSockets() throws Exception {
        exchange(first, Records.record("/", 200, null));
        exchange(second, Records.record("/", 502, Cause.CONNECT_FAILED));
        ExchangeRecord socket = Records.tunnel(Kind.WEBSOCKET, 200, Cause.DRAIN);
        first.onBegun(socket);
        first.onTunnelOpened(socket);
        first.onCompleted(socket);
        first.onTunnelOpened(socket);
        JsonNode document = document();
        JsonNode route = document.at("/routes/0");
        assertThat(route.at("/listener").asText()).isEqualTo("web");
        assertThat(route.at("/route").asText()).isEqualTo("shop");
        assertThat(route.at("/requests").asInt()).isEqualTo(3);
        assertThat(route.at("/codes").toString()).isEqualTo("{\"2xx\":2,\"5xx\":1}");
        assertThat(route.at("/causes").toString()).isEqualTo("{\"connect_failed\":1,\"drain\":1}");
        assertThat(route.at("/latency/sumSeconds").asDouble()).isEqualTo(0.003 + 0.003 + 0.001_002);
        assertThat(route.at("/latency/buckets").size())
                .as("one for each bound, and one above")
                .isEqualTo(document.at("/latencyBoundsSeconds").size() + 1);
        assertThat(document.at("/latencyBoundsSeconds/5").asDouble()).isEqualTo(0.005);
        assertThat(route.at("/latency/buckets/5").asInt()).as("to 5 ms").isEqualTo(2);
        assertThat(route.at("/recent/requests").asInt()).isEqualTo(3);
        assertThat(route.at("/websockets").toString()).isEqualTo("{\"total\":2,\"active\":1,\"causes\":{\"drain\":1}}");
        assertThat(document.at("/causes").toString()).isEqualTo("{\"connect_failed\":1,\"drain\":1}");
    }

    private static EndpointState endpoint(int index, String address, double weight, String state) {
        return new EndpointState(index, address, weight, state, 4, 3, 2, 1, 5);
    }

    @Test
    void anUpstreamTellsOfItsConnectionsAttemptsAndEndpoints() throws Exception {
        metrics.watchUpstreams(() -> List.of(
                new UpstreamState("other", "h2", List.of()),
                new UpstreamState(
                        "app",
                        "auto",
                        List.of(endpoint(0, "a:1", 2, "healthy"), endpoint(100, "b:1", 0.5, "ejected")),
                        List.of(new UpstreamState.Source("dns:a.test", "dns", "stale", "no answer")),
                        true,
                        null,
                        false,
                        Set.of())));
        UpstreamObserver app = first.upstream("app");
        app.onOpened(HttpVersion.HTTP_2, true);
        app.onOpened(HttpVersion.HTTP_1_1, false);
        app.onClosed(HttpVersion.HTTP_1_1, false);
        app.onIdle(HttpVersion.HTTP_2);
        app.onConnectFailed(Cause.DNS_FAILED);
        app.onPending();
        app.onPendingOverflow();
        app.onReceived(11);
        second.upstream("app").onSent(22);
        ExchangeRecord record = Records.record("/", 503, null);
        record.endpoint = new NamedEndpoint("a:1");
        record.endpointIndex = 0;
        exchange(first, record);
        second.onAttemptBegun(Records.record("/", 200, null));
        JsonNode document = document();
        assertThat(document.at("/upstreams/1/name").asText())
                .as("in the order of names")
                .isEqualTo("other");
        assertThat(document.at("/upstreams/1/namedByRequests").asBoolean()).isTrue();
        JsonNode upstream = document.at("/upstreams/0");
        assertThat(upstream.at("/name").asText()).isEqualTo("app");
        assertThat(upstream.at("/protocol").asText()).isEqualTo("auto");
        assertThat(upstream.at("/panic").asInt()).isEqualTo(1);
        assertThat(upstream.at("/sources").toString())
                .isEqualTo("[{\"source\":\"dns:a.test\",\"state\":\"stale\",\"problem\":\"no answer\"}]");
        assertThat(upstream.at("/connections").toString())
                .isEqualTo("{\"total\":2,\"active\":1,\"idle\":1,\"failures\":{\"dns_failed\":1}}");
        assertThat(upstream.at("/attempts").toString())
                .isEqualTo("{\"total\":2,\"active\":1,\"failed\":1,\"retriesSucceeded\":0,\"retriesFailed\":0,"
                        + "\"staleRetried\":0,\"staleFailed\":0}");
        assertThat(upstream.at("/pending").toString())
                .isEqualTo("{\"total\":1,\"active\":1,\"overflow\":1,\"timeout\":0}");
        assertThat(upstream.at("/codes").toString()).isEqualTo("{\"5xx\":1}");
        assertThat(upstream.at("/receivedBytes").asInt()).isEqualTo(11);
        assertThat(upstream.at("/sentBytes").asInt()).isEqualTo(22);
        assertThat(upstream.at("/endpoints/0").toString())
                .startsWith("{\"address\":\"a:1\",\"weight\":2,\"state\":\"healthy\",\"ejections\":4,\"idle\":3,"
                        + "\"active\":2,\"connecting\":1,\"pending\":5,\"requests\":1,\"failures\":1,"
                        + "\"requestsActive\":0,\"requestSeconds\":");
        assertThat(upstream.at("/endpoints/1").toString())
                .as("the hundred-and-first has no counters of its own")
                .isEqualTo("{\"address\":\"b:1\",\"weight\":0.5,\"state\":\"ejected\",\"ejections\":4,\"idle\":3,"
                        + "\"active\":2,\"connecting\":1,\"pending\":5}");
    }

    @Test
    void eachEventLoopTellsOfItself() throws Exception {
        first.listener("web").onOpened(HttpVersion.HTTP_2, true);
        first.listener("web").onOpened(HttpVersion.HTTP_1_1, false);
        second.onBegun(Records.record("/", 200, null));
        JsonNode loops = document().at("/eventLoops");
        assertThat(loops.toString())
                .isEqualTo("[{\"loop\":0,\"lagSeconds\":0.0,\"pendingTasks\":5,\"connections\":2,\"exchanges\":0},"
                        + "{\"loop\":1,\"lagSeconds\":0.0,\"pendingTasks\":6,\"connections\":0,\"exchanges\":1}]");
    }

    @ParameterizedTest
    @CsvSource({"3, resets", "6, pings", "7, goaways", "8, windowUpdates"})
    void framesAreToldBySideTypeAndDirection(int type, String member) throws Exception {
        first.listener("web").onStreamOpened();
        second.listener("web").onStreamOpened();
        second.listener("web").onStreamClosed();
        first.listener("web").onFlushed();
        first.listener("web").onFlowControlPaused();
        first.upstream("app").onFrameReceived(type, 4);
        second.upstream("app").onFrameSent(type, 8);
        second.upstream("app").onFrameSent(type, 8);
        JsonNode h2 = document().at("/h2");
        assertThat(h2.at("/downstream").toString())
                .startsWith("{\"streams\":2,\"streamsActive\":1,\"flushes\":1,\"flowControlPauses\":1,"
                        + "\"frames\":{\"received\":0,\"sent\":0},");
        assertThat(h2.at("/upstream/frames").toString()).isEqualTo("{\"received\":1,\"sent\":2}");
        assertThat(h2.at("/upstream/frameBytes").toString()).isEqualTo("{\"received\":13,\"sent\":34}");
        for (String each : List.of("resets", "goaways", "pings", "windowUpdates")) {
            assertThat(h2.at("/upstream/" + each).toString())
                    .as(each)
                    .isEqualTo(each.equals(member) ? "{\"received\":1,\"sent\":2}" : "{\"received\":0,\"sent\":0}");
        }
    }

    @Test
    void certificatesAndStaleFilesAreTold() throws Exception {
        metrics.watch(() -> List.of(
                new CertificateExpiry("listener", "secure", "a.test", 1_000),
                new CertificateExpiry("upstream", "app", "b.test", 2_000)));
        metrics.addFaultyAccountFiles(() -> 2);
        JsonNode document = document();
        assertThat(document.at("/certificates").toString())
                .isEqualTo("[{\"listener\":\"secure\",\"name\":\"a.test\",\"notAfterSeconds\":1000},"
                        + "{\"upstream\":\"app\",\"name\":\"b.test\",\"notAfterSeconds\":2000}]");
        assertThat(document.at("/authFilesStale").asInt()).isEqualTo(2);
        assertThat(document.at("/accessLog").toString()).isEqualTo("{\"dropped\":0}");
        assertThat(document.at("/memory/heapMaxBytes").asLong())
                .isEqualTo(Runtime.getRuntime().maxMemory());
    }

    @Test
    void whatIsRefusedIsToldWhereSomebodyWatches() throws Exception {
        assertThat(document().has("overload")).isFalse();
        metrics.watchOverload(new Overload(), new MemoryBudget(1_000, 1), new MemoryBudget(2_000, 1));
        metrics.watchCaches(() -> 300);
        first.listener("web").onConnectionShed();
        second.listener("web").onConnectionShed();
        ObjectNode overload = (ObjectNode) document().at("/overload");
        assertThat(overload.remove("actions")).isNotNull(); // of the whole process, so also of other tests
        assertThat(overload.toString())
                .isEqualTo("{\"refusing\":\"nothing\",\"connectionsShed\":2,\"clientHeapUsedBytes\":0,"
                        + "\"clientHeapMaxBytes\":1000,\"cachesUsedBytes\":300,\"waitingBodiesUsedBytes\":0,\"waitingBodiesMaxBytes\":2000,"
                        + "\"pressure\":{},\"endsKeepAlive\":false}");
    }

    @Test
    void totalsAreSumsOfAllLoopsAndListeners() throws Exception {
        exchange(first, Records.record("/", 200, null));
        ExchangeRecord failed = Records.record("/", 502, Cause.CONNECT_FAILED);
        failed.respondedNanos = 0;
        exchange(second, failed);
        first.listener("web").onOpened(HttpVersion.HTTP_2, true);
        second.listener("other").onOpened(HttpVersion.HTTP_2, false);
        second.listener("other").onOpened(HttpVersion.TCP, false);
        second.listener("other").onFrameReceived(6, 10);
        first.listener("web").onFrameSent(0, 70);
        JsonNode totals = document().at("/totals");
        assertThat(totals.at("/requestsTotal").asInt()).isEqualTo(2);
        assertThat(totals.at("/connectionsTotal").asInt()).isEqualTo(3);
        assertThat(totals.at("/handlerErrors").asInt()).isEqualTo(1);
        assertThat(totals.at("/h2ConnectionsTls").asInt()).isEqualTo(1);
        assertThat(totals.at("/h2ConnectionsCleartext").asInt()).isEqualTo(1);
        assertThat(totals.at("/h2MeanFrameBytes").asInt()).isEqualTo(49);
        assertThat(totals.at("/h2PingsReceived").asInt()).isEqualTo(1);
        assertThat(totals.at("/h2PingsSent").asInt()).isZero();
    }

    @Test
    void whereNothingIsKnownOfTheLastSecondsPercentilesAreNull() throws Exception {
        assertThat(RecentStatistics.of(null).requests()).isNaN();
        assertThat(document().at("/recent").toString())
                .isEqualTo("{\"requests\":0,\"p50\":null,\"p90\":null,\"p99\":null,\"p999\":null}");
        ExchangeRecord record = Records.record("/", 200, null);
        first.onBegun(record);
        first.onCompleted(record); // after 3 ms
        JsonNode recent = document().at("/recent");
        assertThat(recent.at("/requests").asInt()).isEqualTo(1);
        assertThat(recent.at("/p50").asDouble()).isBetween(0.0026, 0.0034);
        assertThat(recent.at("/p999").asDouble()).isBetween(0.0026, 0.0034);
    }
}
