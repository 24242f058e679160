package dev.gateway.observe.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.message.Method;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.AttemptKind;
import dev.gateway.observe.ExchangeRecord.HedgeResult;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.observe.NamedEndpoint;
import dev.gateway.observe.OtherAttempt;
import dev.gateway.observe.Records;
import dev.gateway.observe.SessionResult;
import dev.gateway.observe.counts.KeyedCounts;
import dev.gateway.observe.metrics.state.ListenerFeatures;
import dev.gateway.observe.metrics.state.UpstreamState;
import dev.gateway.observe.metrics.state.UpstreamState.EndpointState;
import dev.gateway.observe.trace.TraceLink;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.UpstreamObserver;
import dev.gateway.time.TimerWheel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a scrape and the statistics page say of what was counted. */
class MetricsTest {
    private static final Pattern SAMPLE = Pattern.compile(
            "([a-zA-Z_:][a-zA-Z0-9_:]*)(\\{([a-zA-Z_]+=\"([^\"\\\\\n]|\\\\.)*\",?)*})? (NaN|[+-]?Inf|[-+0-9.eE]+)");

    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final Metrics metrics = new Metrics("1.2.3");
    private final LoopMetrics first = metrics.newLoop(new TimerWheel(loop.eventLoop()), () -> 0);
    private final LoopMetrics second = metrics.newLoop(new TimerWheel(loop.eventLoop()), () -> 2);

    @AfterEach
    void close() {
        metrics.close();
        loop.finishAndReleaseAll();
    }

    private static void exchange(LoopMetrics loop, ExchangeRecord record) {
        loop.onBegun(record);
        loop.onAttemptBegun(record);
        loop.onAttemptEnded(record, record.status, null, false);
        loop.onCompleted(record);
    }

    /** Reads the exposition, every line of it. */
    private Map<String, Double> scrape() {
        Map<String, Double> samples = new TreeMap<>();
        metrics.metricsText().lines().filter(line -> !line.startsWith("#")).forEach(line -> {
            Matcher matcher = SAMPLE.matcher(line);
            assertThat(matcher.matches()).as(line).isTrue();
            int space = line.lastIndexOf(' ');
            String value = line.substring(space + 1).replace("Inf", "Infinity");
            assertThat(samples.put(line.substring(0, space), Double.valueOf(value)))
                    .as("twice: " + line)
                    .isNull();
        });
        return samples;
    }

    @Test
    void requestsAreCountedByListenerRouteMethodCodeAndCauseOverAllLoops() {
        exchange(first, Records.record("/", 200, null));
        exchange(second, Records.record("/", 200, null));
        exchange(second, Records.record("/", 502, Cause.CONNECT_FAILED));
        assertThat(scrape())
                .containsEntry(
                        "gateway_downstream_requests_total{cause=\"\",code=\"200\",listener=\"web\",method=\"GET\","
                                + "route=\"shop\"}",
                        2.0)
                .containsEntry(
                        "gateway_downstream_requests_total{cause=\"connect_failed\",code=\"502\",listener=\"web\","
                                + "method=\"GET\",route=\"shop\"}",
                        1.0)
                .containsEntry("gateway_downstream_requests_active{listener=\"web\"}", 0.0);
    }

    @Test
    void aClientsOwnMethodsMakeOneLabel() {
        for (String method : new String[] {"BREW", "WHEN"}) {
            ExchangeRecord record = Records.record("/", 200, null);
            record.method = Method.of(method);
            exchange(first, record);
        }
        assertThat(scrape())
                .containsEntry(
                        "gateway_downstream_requests_total{cause=\"\",code=\"200\",listener=\"web\",method=\"OTHER\","
                                + "route=\"shop\"}",
                        2.0);
    }

    @Test
    void durationsAreAHistogramWithFineBuckets() {
        exchange(first, Records.record("/", 200, null)); // 3 ms
        String name = "gateway_downstream_request_duration_seconds";
        String labels = "{code_class=\"2xx\",listener=\"web\",route=\"shop\"";
        assertThat(scrape())
                .containsEntry(name + "_bucket" + labels + ",le=\"0.0025\"}", 0.0)
                .containsEntry(name + "_bucket" + labels + ",le=\"0.005\"}", 1.0)
                .containsEntry(name + "_bucket" + labels + ",le=\"10.0\"}", 1.0)
                .containsEntry(name + "_bucket" + labels + ",le=\"+Inf\"}", 1.0)
                .containsEntry(name + "_count" + labels + "}", 1.0)
                .containsEntry(name + "_sum" + labels + "}", 0.003);
    }

    @Test
    void attemptsTellFirstFromRetryAndStaleConnections() {
        ExchangeRecord record = Records.record("/", 200, null);
        first.onBegun(record);
        first.onAttemptBegun(record);
        Failure stale =
                new Failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, 502, RetrySafety.IF_IDEMPOTENT, true, "closed");
        first.onAttemptEnded(record, 0, stale, true);
        record.attempts = 2;
        record.attemptKind = AttemptKind.RETRY;
        first.onAttemptBegun(record);
        first.onAttemptEnded(record, 200, null, false);
        first.onCompleted(record);
        assertThat(scrape())
                .containsEntry(
                        "gateway_upstream_requests_total{attempt=\"first\",code_class=\"none\",upstream=\"app\"}", 1.0)
                .containsEntry(
                        "gateway_upstream_requests_total{attempt=\"retry\",code_class=\"2xx\",upstream=\"app\"}", 1.0)
                .containsEntry("gateway_upstream_retries_total{result=\"success\",upstream=\"app\"}", 1.0)
                .containsEntry("gateway_pool_stale_total{outcome=\"retried\",upstream=\"app\"}", 1.0)
                .containsEntry("gateway_upstream_requests_active{upstream=\"app\"}", 0.0);
    }

    @Test
    void hedgesAreCountedByWhatBecameOfThemAndAreNoRetries() {
        for (HedgeResult result : HedgeResult.values()) {
            ExchangeRecord record = Records.record("/", 200, null);
            record.attempts = 2;
            OtherAttempt hedge = new OtherAttempt();
            first.onBegun(record);
            first.onAttemptBegun(record);
            hedge.swap(record);
            record.endpoint = new NamedEndpoint("other.test:9000");
            record.endpointIndex = 1;
            first.onAttemptBegun(record);
            record.setHedge(result);
            first.onAttemptEnded(record, 0, null, result != HedgeResult.WON);
            hedge.swap(record);
            first.onAttemptEnded(record, 200, null, false);
            first.onCompleted(record);
        }
        first.onHedgeOverBudget(Records.record("/", 200, null));
        metrics.watchUpstreams(() -> List.of(new UpstreamState("app", "auto", List.of())));
        Map<String, Double> samples = scrape();
        for (String result : new String[] {"won", "lost", "failed", "over_budget"}) {
            assertThat(samples)
                    .containsEntry("gateway_upstream_hedges_total{result=\"" + result + "\",upstream=\"app\"}", 1.0);
        }
        assertThat(samples)
                .containsEntry(
                        "gateway_upstream_requests_total{attempt=\"first\",code_class=\"2xx\",upstream=\"app\"}", 3.0)
                .containsEntry(
                        "gateway_upstream_requests_total{attempt=\"hedge\",code_class=\"none\",upstream=\"app\"}", 3.0)
                .containsEntry("gateway_upstream_retries_total{result=\"failure\",upstream=\"app\"}", 0.0)
                .containsEntry("gateway_upstream_requests_active{upstream=\"app\"}", 0.0);
    }

    @Test
    void sessionsAreCountedByWhatBecameOfThem() {
        ExchangeRecord record = Records.record("/", 200, null);
        first.onSession(record, SessionResult.BEGUN);
        second.onSession(record, SessionResult.KEPT);
        first.onSession(record, SessionResult.KEPT);
        assertThat(scrape())
                .containsEntry("gateway_upstream_sessions_total{result=\"begun\",upstream=\"app\"}", 1.0)
                .containsEntry("gateway_upstream_sessions_total{result=\"kept\",upstream=\"app\"}", 2.0)
                .containsEntry("gateway_upstream_sessions_total{result=\"moved\",upstream=\"app\"}", 0.0);
    }

    @Test
    void connectionsAreCountedByProtocolAndTls() {
        ConnectionObserver web = first.listener("web");
        web.onOpened(HttpVersion.HTTP_2, true);
        web.onOpened(HttpVersion.HTTP_1_1, false);
        web.onClosed(HttpVersion.HTTP_1_1, false);
        web.onReceived(100);
        second.listener("web").onReceived(11);
        web.onViolation("bad_chunk");
        assertThat(scrape())
                .containsEntry(
                        "gateway_downstream_connections_total{listener=\"web\",protocol=\"h2\",tls=\"true\"}", 1.0)
                .containsEntry(
                        "gateway_downstream_connections_active{listener=\"web\",protocol=\"h2\",tls=\"true\"}", 1.0)
                .containsEntry(
                        "gateway_downstream_connections_active{listener=\"web\",protocol=\"http1\",tls=\"false\"}", 0.0)
                .containsEntry("gateway_downstream_received_bytes_total{kind=\"http\",listener=\"web\"}", 111.0)
                .containsEntry("gateway_protocol_violations_total{kind=\"bad_chunk\",listener=\"web\"}", 1.0);
    }

    @Test
    void poolsAreCountedByUpstream() {
        UpstreamObserver app = first.upstream("app");
        app.onConnected(2_000_000, 0);
        app.onOpened(HttpVersion.HTTP_1_1, false);
        app.onPending();
        app.onPending();
        app.onPendingEnded(1_000);
        app.onPendingOverflow();
        app.onConnectFailed(Cause.CONNECT_TIMEOUT);
        app.onChecked(true);
        app.onChecked(true);
        app.onChecked(false);
        assertThat(scrape())
                .containsEntry("gateway_upstream_health_checks_total{result=\"success\",upstream=\"app\"}", 2.0)
                .containsEntry("gateway_upstream_health_checks_total{result=\"failure\",upstream=\"app\"}", 1.0)
                .containsEntry("gateway_upstream_connections_active{protocol=\"http1\",upstream=\"app\"}", 1.0)
                .containsEntry("gateway_upstream_pending_requests{upstream=\"app\"}", 1.0)
                .containsEntry("gateway_upstream_pending_overflow_total{upstream=\"app\"}", 1.0)
                .containsEntry(
                        "gateway_upstream_connect_failures_total{cause=\"connect_timeout\",upstream=\"app\"}", 1.0)
                .containsEntry("gateway_upstream_connect_duration_seconds_count{upstream=\"app\"}", 1.0);
    }

    private static void tunnel(LoopMetrics loop, ExchangeRecord record) {
        loop.onBegun(record);
        loop.onAttemptBegun(record);
        if (record.openedNanos != 0) {
            loop.onTunnelOpened(record);
            loop.onTunnelBytes(record, record.receivedBytes, 0);
            loop.onTunnelBytes(record, 0, record.sentBytes);
        }
        loop.onAttemptEnded(record, record.status, null, false);
        loop.onCompleted(record);
    }

    @Test
    void tunnelsAreCountedByDecisionAndCause() {
        tunnel(first, Records.tunnel(Kind.TUNNEL, 200, null));
        tunnel(second, Records.tunnel(Kind.TUNNEL, 200, Cause.IDLE_TIMEOUT));
        tunnel(second, Records.tunnel(Kind.TUNNEL, 200, Cause.POLICY_SNI));
        tunnel(second, Records.tunnel(Kind.TUNNEL, 403, Cause.POLICY_HOST));
        tunnel(second, Records.tunnel(Kind.TUNNEL, 502, Cause.DNS_FAILED));
        ExchangeRecord open = Records.tunnel(Kind.TUNNEL, 200, null);
        first.onBegun(open);
        first.onTunnelOpened(open);
        first.onTunnelBytes(open, 100, 0);
        String name = "gateway_tunnels";
        assertThat(scrape())
                .containsEntry(name + "_total{cause=\"\",decision=\"allowed\",listener=\"web\"}", 1.0)
                .containsEntry(name + "_total{cause=\"idle_timeout\",decision=\"allowed\",listener=\"web\"}", 1.0)
                .containsEntry(name + "_total{cause=\"policy_sni\",decision=\"denied\",listener=\"web\"}", 1.0)
                .containsEntry(name + "_total{cause=\"policy_host\",decision=\"denied\",listener=\"web\"}", 1.0)
                .containsEntry(name + "_total{cause=\"dns_failed\",decision=\"allowed\",listener=\"web\"}", 1.0)
                .containsEntry(name + "_active{listener=\"web\"}", 1.0)
                .containsEntry(name + "_bytes_total{direction=\"received\",listener=\"web\"}", 121.0)
                .containsEntry(name + "_bytes_total{direction=\"sent\",listener=\"web\"}", 126.0)
                .containsEntry(name + "_duration_seconds_count{listener=\"web\"}", 3.0)
                .containsEntry(name + "_duration_seconds_sum{listener=\"web\"}", 2 * 0.001_998 + 0.001_998);
        assertThat(metrics.statsText()).containsPattern("tunnels active +1\n").containsPattern("tunnels total +6\n");
    }

    @Test
    void webSocketsAreCountedByRouteAndCauseAndAreNoTunnels() {
        tunnel(first, Records.tunnel(Kind.WEBSOCKET, 200, null));
        tunnel(first, Records.tunnel(Kind.WEBSOCKET, 200, Cause.DRAIN));
        tunnel(first, Records.tunnel(Kind.WEBSOCKET, 403, null));
        assertThat(scrape())
                .containsEntry("gateway_websockets_total{cause=\"\",route=\"shop\"}", 1.0)
                .containsEntry("gateway_websockets_total{cause=\"drain\",route=\"shop\"}", 1.0)
                .containsEntry("gateway_websockets_active{route=\"shop\"}", 0.0)
                .doesNotContainKey("gateway_tunnels_active{listener=\"web\"}")
                .doesNotContainKey("gateway_tunnels_total{cause=\"\",decision=\"allowed\",listener=\"web\"}");
    }

    @Test
    void aListenerHasTheSeriesOfTunnelsIfItCanHaveSomeOrHadSome() {
        first.listener("web");
        first.listener("egress");
        assertThat(scrape().keySet()).noneMatch(MetricsTest::isOfTunnels);
        metrics.watchListeners(() -> new ListenerFeatures(Set.of("egress"), Set.of()));
        assertThat(scrape())
                .containsEntry("gateway_tunnels_active{listener=\"egress\"}", 0.0)
                .containsEntry("gateway_tunnels_bytes_total{direction=\"received\",listener=\"egress\"}", 0.0)
                .containsEntry("gateway_tunnels_bytes_total{direction=\"sent\",listener=\"egress\"}", 0.0)
                .containsEntry("gateway_tunnels_duration_seconds_count{listener=\"egress\"}", 0.0)
                .containsEntry("gateway_downstream_received_bytes_total{kind=\"tunnel\",listener=\"egress\"}", 0.0)
                .containsEntry("gateway_downstream_sent_bytes_total{kind=\"tunnel\",listener=\"egress\"}", 0.0)
                .containsEntry("gateway_downstream_sent_bytes_total{kind=\"websocket\",listener=\"web\"}", 0.0);
        assertThat(scrape().keySet()).noneMatch(each -> isOfTunnels(each) && each.contains("\"web\""));
        metrics.watchListeners(() -> ListenerFeatures.NONE);
        tunnel(second, Records.tunnel(Kind.TUNNEL, 200, null));
        assertThat(scrape())
                .containsEntry("gateway_tunnels_active{listener=\"web\"}", 0.0)
                .containsEntry("gateway_tunnels_duration_seconds_count{listener=\"web\"}", 1.0);
        assertThat(scrape().keySet()).noneMatch(each -> isOfTunnels(each) && each.contains("\"egress\""));
    }

    /** Anybody may send a CONNECT to any listener. */
    @Test
    void aTunnelThatNobodyOffersHasNoSeriesButOfItsRefusal() {
        tunnel(first, Records.tunnel(Kind.TUNNEL, 405, Cause.NO_ROUTE));
        assertThat(scrape().keySet())
                .filteredOn(MetricsTest::isOfTunnels)
                .containsExactly("gateway_tunnels_total{cause=\"no_route\",decision=\"denied\",listener=\"web\"}");
    }

    private static boolean isOfTunnels(String series) {
        return series.startsWith("gateway_tunnels") || series.contains("kind=\"tunnel\"");
    }

    @Test
    void theBytesOfTunnelsAreNotThoseOfHttpAndNoCounterFalls() {
        String metric = "gateway_downstream_received_bytes_total";
        ConnectionObserver web = first.listener("web");
        ExchangeRecord open = Records.tunnel(Kind.WEBSOCKET, 200, null);
        first.onTunnelOpened(open);
        web.onReceived(1000);
        first.onTunnelBytes(open, 300, 0);
        assertThat(scrape())
                .containsEntry(metric + "{kind=\"http\",listener=\"web\"}", 700.0)
                .containsEntry(metric + "{kind=\"websocket\",listener=\"web\"}", 300.0);
        web.onReceived(200); // which turn out to be the tunnel's
        assertThat(scrape()).containsEntry(metric + "{kind=\"http\",listener=\"web\"}", 900.0);
        first.onTunnelBytes(open, 200, 0);
        assertThat(scrape()).containsEntry(metric + "{kind=\"http\",listener=\"web\"}", 900.0);
        web.onReceived(250);
        assertThat(scrape()).containsEntry(metric + "{kind=\"http\",listener=\"web\"}", 950.0);
    }

    @Test
    void theTimeOfARequestForATunnelIsThatUntilItOpens() {
        tunnel(first, Records.tunnel(Kind.TUNNEL, 200, null)); // opened after 1 ms, ended after 3
        assertThat(scrape())
                .containsEntry(
                        "gateway_downstream_request_duration_seconds_sum{code_class=\"2xx\",listener=\"web\","
                                + "route=\"shop\"}",
                        0.001_002);
    }

    @Test
    void refusalsOfAPolicyAreShown() {
        metrics.addDenials(denials -> denials.denied("egress", "allowedPorts", 3));
        assertThat(scrape())
                .containsEntry("gateway_connect_denied_total{listener=\"egress\",rule=\"allowedPorts\"}", 3.0);
    }

    @Test
    void framesAreCountedByKindAndDirection() {
        ConnectionObserver web = first.listener("web");
        web.onFrameReceived(8, 4);
        web.onFrameReceived(0, 100);
        web.onFrameSent(3, 4);
        web.onFlowControlPaused();
        assertThat(scrape())
                .containsEntry("gateway_h2_frames_total{direction=\"received\",side=\"downstream\"}", 2.0)
                .containsEntry("gateway_h2_window_updates_total{direction=\"received\",side=\"downstream\"}", 1.0)
                .containsEntry("gateway_h2_resets_total{direction=\"sent\",side=\"downstream\"}", 1.0)
                .containsEntry("gateway_h2_flow_control_pauses_total{side=\"downstream\"}", 1.0);
    }

    @Test
    void theProcessItselfIsPartOfAScrape() {
        metrics.onGeneration(3, 2);
        metrics.onReload(true);
        metrics.onReload(false);
        String text = metrics.metricsText();
        assertThat(text)
                .contains("gateway_config_generation 3.0")
                .contains("gateway_config_generations_draining 2.0")
                .contains("gateway_config_reloads_total{result=\"failure\"} 1.0")
                .contains("gateway_build_info{")
                .contains("version=\"1.2.3\"")
                .contains("jvm_memory_used_bytes{application=\"gateway\"")
                .contains("gateway_direct_memory_max_bytes");
    }

    @Test
    void thePageForPeopleAnswersTheUsualQuestions() {
        first.listener("web").onOpened(HttpVersion.HTTP_2, false);
        first.listener("web").onFrameSent(0, 91);
        exchange(first, Records.record("/", 200, null));
        ExchangeRecord failed = Records.record("/", 502, Cause.CONNECT_FAILED);
        failed.respondedNanos = 0;
        exchange(second, failed);
        exchange(second, Records.record("/", 200, Cause.UPSTREAM_RESET_IN_BODY));
        assertThat(metrics.statsText())
                .containsPattern("connections active +1\n")
                .containsPattern("requests total +3\n")
                .containsPattern("requests per second +[0-9.]+\n")
                .containsPattern("handler errors +1 +requests that the gateway itself answered with 5xx\n")
                .containsPattern("reply errors +1 ")
                .containsPattern("idle closes +0 ")
                .containsPattern("connections refused over limit +0 ")
                .containsPattern("h2 connections cleartext +1\n")
                .containsPattern("h2 mean frame bytes +100 ")
                .containsPattern("h2 flow control pauses +0 ");
        assertThat(metrics.statsJson())
                .startsWith("{\"schema\":1,")
                .contains(",\"requestsTotal\":3,")
                .endsWith("}\n");
    }

    @Test
    void thePageForPeopleBeginsWithWhatFailsAndWhere() {
        metrics.watchUpstreams(() -> List.of(
                new UpstreamState("idle", "auto", List.of()),
                new UpstreamState(
                        "app",
                        "auto",
                        List.of(
                                new EndpointState(0, "good:1", 1, "healthy", 0, 0, 0, 0, 0),
                                new EndpointState(1, "dead:1", 1, "unreachable", 0, 0, 0, 0, 0)))));
        assertThat(metrics.statsText()).contains("failed exchanges by cause\n  none\n");
        for (int i = 0; i < 5; i++) {
            ExchangeRecord fine = Records.record("/", 200, null);
            fine.route = "fine";
            exchange(first, fine);
        }
        ExchangeRecord failed = Records.record("/", 502, Cause.CONNECT_FAILED);
        failed.endpoint = new NamedEndpoint("dead:1");
        failed.endpointIndex = 1;
        first.onBegun(failed);
        first.onAttemptBegun(failed);
        first.onAttemptEnded(failed, 0, Failure.of(Cause.CONNECT_FAILED, "refused"), false);
        first.onCompleted(failed);
        first.onBegun(failed);
        failed.cause = Cause.CLIENT_CLOSED;
        first.onCompleted(failed);
        first.onBegun(failed);
        first.onCompleted(failed);
        String text = metrics.statsText();
        assertThat(text)
                .containsPattern("failed exchanges by cause\n  client_closed +2\n  connect_failed +1\n")
                .containsPattern("routes, most failures first .*\n  shop of web +3 +3 .* most with client_closed\n"
                        + "  fine of web +0 +5 ")
                .containsPattern("upstreams, most failures first .*\n  app +1 +6 .* 1 of 2 healthy, "
                        + "most failures at dead:1: 1\n  idle +0 +0 +-\n");
        assertThat(text.indexOf("failed exchanges")).isLessThan(text.indexOf("h2 frames"));
    }

    @Test
    void aLongListOfRoutesIsCut() {
        for (int i = 0; i < 30; i++) {
            ExchangeRecord record = Records.record("/", 200, null);
            record.route = "route-" + i;
            exchange(first, record);
        }
        assertThat(metrics.statsText()).contains("  and 10 more\n");
    }

    @Test
    void manyKeysAreCountedWithoutLoss() {
        KeyedCounts counts = new KeyedCounts();
        for (int round = 0; round < 3; round++) {
            for (int key = 1; key <= 500; key++) {
                counts.increment(key << 8);
            }
        }
        Map<Integer, Long> read = new TreeMap<>();
        counts.forEach(read::put);
        assertThat(read).hasSize(500);
        assertThat(read.values()).containsOnly(3L);
    }

    @Test
    void aSampledTraceIsTheExampleOfItsBucketInOpenMetricsOnly() {
        ExchangeRecord record = Records.record("/", 200, null); // 3 ms
        record.sampledTrace = new TraceLink("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        exchange(first, record);
        exchange(second, Records.record("/", 200, null));
        Metrics.Scrape scrape = metrics.scrape("application/openmetrics-text;version=1.0.0,text/plain;q=0.3");
        assertThat(scrape.type()).isEqualTo("application/openmetrics-text; version=1.0.0; charset=utf-8");
        String bucket = "gateway_downstream_request_duration_seconds_bucket"
                + "{code_class=\"2xx\",listener=\"web\",route=\"shop\",le=\"0.005\"}";
        assertThat(scrape.text().lines().filter(line -> line.contains("_bucket{") && line.contains("trace_id")))
                .hasSize(1)
                .allSatisfy(line -> assertThat(line)
                        .startsWith(bucket + " 2 # {")
                        .contains("trace_id=\"4bf92f3577b34da6a3ce929d0e0e4736\"")
                        .contains("span_id=\"00f067aa0ba902b7\"")
                        .contains("} 0.003 "));
        assertThat(scrape.text()).endsWith("# EOF\n");
        assertThat(metrics.metricsText()).doesNotContain("trace_id");
    }

    @Test
    void countersOfManyNamesAreNotMixedUp() {
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 700; i++) {
                ExchangeRecord record = Records.record("/", 200, null);
                record.route = "route-" + i; // another string each time, as after a reload
                exchange(first, record);
            }
        }
        Map<String, Double> samples = scrape();
        for (int i = 0; i < 700; i++) {
            assertThat(samples)
                    .containsEntry(
                            "gateway_downstream_requests_total{cause=\"\",code=\"200\",listener=\"web\","
                                    + "method=\"GET\",route=\"route-" + i + "\"}",
                            3.0);
        }
    }

    @Test
    void endpointsAreCountedByStateUnlessRequestsNameThem() {
        EndpointState bad = new EndpointState(0, "a.test:1", 1, "ejected", 3, 0, 0, 0, 0);
        metrics.watchUpstreams(() -> List.of(
                new UpstreamState("app", "auto", List.of(bad, bad)),
                new UpstreamState("connect-1", "auto", List.of())));
        metrics.onEjected("app");
        assertThat(scrape())
                .containsEntry("gateway_upstream_endpoints{state=\"healthy\",upstream=\"app\"}", 0.0)
                .containsEntry("gateway_upstream_endpoints{state=\"ejected\",upstream=\"app\"}", 2.0)
                .doesNotContainKey("gateway_upstream_endpoints{state=\"healthy\",upstream=\"connect-1\"}")
                .containsEntry("gateway_upstream_ejections_total{upstream=\"app\"}", 1.0)
                .doesNotContainKey("gateway_upstream_ejections_total{upstream=\"connect-1\"}");
    }

    @Test
    void anUpstreamWithoutEndpointsIsCountedAndSoAreSourcesThatFail() {
        metrics.watchUpstreams(() -> List.of(new UpstreamState(
                "app",
                "auto",
                List.of(),
                List.of(
                        new UpstreamState.Source("dns:a.test", "dns", "fresh", ""),
                        new UpstreamState.Source("file:/a.yaml", "file", "stale", "/a.yaml:1:1: not valid"),
                        new UpstreamState.Source("file:/b.yaml", "file", "stale", "there is no file /b.yaml")),
                false,
                0.84,
                false,
                Set.of())));
        assertThat(scrape())
                .containsEntry("gateway_upstream_local_zone_share{upstream=\"app\"}", 0.84)
                .containsEntry("gateway_upstream_endpoints{state=\"healthy\",upstream=\"app\"}", 0.0)
                .containsEntry("gateway_upstream_panic{upstream=\"app\"}", 0.0)
                .containsEntry("gateway_upstream_sources_stale{source=\"dns\",upstream=\"app\"}", 0.0)
                .containsEntry("gateway_upstream_sources_stale{source=\"file\",upstream=\"app\"}", 2.0)
                .doesNotContainKey("gateway_upstream_sources_stale{source=\"srv\",upstream=\"app\"}");
        assertThat(metrics.statsText()).contains("0 of 0 healthy");
        assertThat(metrics.statsJson())
                .contains("\"namedByRequests\":false")
                .contains("{\"source\":\"dns:a.test\",\"state\":\"fresh\",\"problem\":\"\"}");
    }

    @Test
    void keptConnectionsAreIdle() {
        UpstreamObserver app = first.upstream("app");
        app.onOpened(HttpVersion.HTTP_2, true);
        app.onIdle(HttpVersion.HTTP_2);
        second.upstream("app").onIdle(HttpVersion.HTTP_2);
        app.onIdleEnded(HttpVersion.HTTP_2);
        metrics.watchUpstreams(() -> List.of(new UpstreamState("app", "auto", List.of())));
        assertThat(scrape())
                .containsEntry("gateway_upstream_connections_idle{protocol=\"h2\",upstream=\"app\"}", 1.0)
                .containsEntry("gateway_upstream_connections_idle{protocol=\"http1\",upstream=\"app\"}", 0.0);
    }

    @Test
    void anExpositionWithoutTrafficParses() {
        assertThat(scrape()).isNotEmpty();
    }
}
