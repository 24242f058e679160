package dev.gateway.observe.meters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.Records;
import dev.gateway.observe.metrics.LoopMetrics;
import dev.gateway.observe.metrics.Metrics;
import dev.gateway.observe.trace.TraceLink;
import dev.gateway.time.TimerWheel;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.channel.embedded.EmbeddedChannel;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which registries get a gateway's meters, for how long, and that they tell what {@code /metrics} does. */
class GatewayMetersTest {
    private static final String OPEN_METRICS = "application/openmetrics-text";
    private static final String REQUESTS = "gateway.downstream.requests";
    private static final ConfiguredNames NAMES = new ConfiguredNames(Set.of("web"), Set.of("shop"), Set.of("app"));

    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final Metrics metrics = new Metrics("1.2.3");
    private final LoopMetrics counts = metrics.newLoop(new TimerWheel(loop.eventLoop()), () -> 0);
    private final GatewayMeters meters = new GatewayMeters(metrics.collector(), () -> NAMES, false);
    private final GatewayMeters others = new GatewayMeters(metrics.collector(), () -> NAMES, false);
    private final SimpleMeterRegistry simple = new SimpleMeterRegistry();
    private final PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    @AfterEach
    void close() {
        meters.close();
        others.close();
        metrics.close();
        loop.finishAndReleaseAll();
    }

    private void exchange() {
        ExchangeRecord record = Records.record("/", 200, null);
        record.sampledTrace = new TraceLink("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
        counts.onBegun(record);
        counts.onAttemptBegun(record);
        counts.onAttemptEnded(record, record.status, null, false);
        counts.onCompleted(record);
    }

    private static double requests(MeterRegistry registry) {
        return registry.get(REQUESTS).functionCounter().count();
    }

    /** Returns the lines of a scrape that are of the gateway, but those of what moves by itself. */
    private static List<String> ours(String text) {
        return text.lines()
                .filter(line -> line.contains("gateway_"))
                .filter(line -> !line.matches("gateway_(eventloop|direct_memory|overload_pressure).*"))
                .map(line -> line.replace("application=\"gateway\"", ""))
                .sorted()
                .toList();
    }

    @Test
    void everySeriesIsAMeterOfItsOwnWithTheSameValue() {
        exchange();
        exchange();
        meters.bindTo(simple);
        MetricSnapshots told = metrics.collector().collect();
        int series =
                told.stream().mapToInt(metric -> metric.getDataPoints().size()).sum();
        assertThat(simple.getMeters()).hasSize(series);
        assertThat(requests(simple)).isEqualTo(2);
        assertThat(simple.get(REQUESTS)
                        .tag("listener", "web")
                        .tag("route", "shop")
                        .tag("code", "200")
                        .tag("cause", "none")
                        .functionCounter()
                        .count())
                .isEqualTo(2);
        assertThat(simple.get("gateway.downstream.request.duration")
                        .functionTimer()
                        .totalTime(TimeUnit.MILLISECONDS))
                .isEqualTo(6);
        assertThat(told.stream().map(metric -> MeterNames.name(name(metric)))).doesNotHaveDuplicates();
    }

    private static String name(MetricSnapshot metric) {
        return metric.getMetadata().getName();
    }

    @Test
    void metersOfTheJvmAreTheApplicationsBusiness() {
        meters.bindTo(simple);
        assertThat(simple.getMeters()).allMatch(meter -> meter.getId().getName().startsWith("gateway."));
        meters.bindTo(prometheus);
        assertThat(prometheus.scrape()).contains("gateway_build_info").doesNotContain("jvm_");
    }

    @Test
    void metersFollowARefreshAndAPrometheusScrapeNeedsNone() {
        meters.bindTo(simple);
        meters.bindTo(prometheus);
        exchange();
        assertThat(simple.find(REQUESTS).meter()).isNull();
        assertThat(prometheus.scrape()).contains("gateway_downstream_requests_total{");
        meters.refresh();
        assertThat(requests(simple)).isEqualTo(1);
    }

    @Test
    void bucketsAreThereForWhoWantsThem() {
        exchange();
        try (GatewayMeters fine = new GatewayMeters(metrics.collector(), () -> NAMES, true)) {
            fine.bindTo(simple);
            FunctionCounter bucket = simple.get("gateway.downstream.request.duration.bucket")
                    .tag("le", "0.005")
                    .functionCounter();
            assertThat(bucket.count()).isEqualTo(1);
        }
    }

    // ---- Prometheus

    @Test
    void aPrometheusRegistryTellsWhatTheMetricsPageDoesWithHistogramsAndExemplars() {
        exchange();
        meters.bindTo(prometheus);
        assertThat(ours(prometheus.scrape())).isEqualTo(ours(metrics.metricsText()));
        String open = prometheus.scrape(OPEN_METRICS);
        assertThat(ours(open)).isEqualTo(ours(metrics.scrape(OPEN_METRICS).text()));
        assertThat(open)
                .containsPattern("gateway_downstream_request_duration_seconds_bucket\\{.*} 1 # .*0af7651916cd43dd");
        assertThat(prometheus.getMeters()).isEmpty();
    }

    @Test
    void aNameThatTheApplicationHasInAPrometheusRegistryStaysItsOwn() {
        Counter reloads = prometheus.counter("gateway.config.reloads", "mine", "yes");
        exchange();
        meters.bindTo(prometheus);
        Counter requests = prometheus.counter(REQUESTS, "mine", "yes"); // later
        reloads.increment(40);
        requests.increment(50);
        assertThat(prometheus
                        .scrape()
                        .lines()
                        .filter(line -> line.matches("gateway_(config_reloads|downstream_requests)_total.*")))
                .containsExactlyInAnyOrder(
                        "gateway_config_reloads_total{mine=\"yes\"} 40.0",
                        "gateway_downstream_requests_total{mine=\"yes\"} 50.0");
        assertThat(prometheus.scrape()).contains("gateway_config_generation 0.0");
    }

    @Test
    void aTimerOfTheApplicationKeepsItsNameToo() {
        exchange();
        meters.bindTo(prometheus);
        prometheus.timer("gateway.downstream.request.duration").record(1, TimeUnit.SECONDS);
        assertThat(prometheus
                        .scrape()
                        .lines()
                        .filter(line -> line.startsWith("gateway_downstream_request_duration_seconds_count")))
                .containsExactly("gateway_downstream_request_duration_seconds_count 1");
    }

    // ---- which registries

    @Test
    void membersOfACompositeGetMetersAndTheCompositeItselfNone() {
        exchange();
        CompositeMeterRegistry inner = new CompositeMeterRegistry(Clock.SYSTEM, List.of(simple));
        CompositeMeterRegistry outer = new CompositeMeterRegistry(Clock.SYSTEM, List.of(inner, prometheus));
        meters.bindTo(outer);
        assertThat(requests(simple)).isEqualTo(1);
        assertThat(ours(prometheus.scrape())).isEqualTo(ours(metrics.metricsText()));
        assertThat(outer.getMeters()).isEmpty();
        assertThat(inner.getMeters()).isEmpty();
    }

    @Test
    void aMemberThatIsAddedLaterGetsMetersAndOneThatIsRemovedLosesThem() {
        exchange();
        CompositeMeterRegistry composite = new CompositeMeterRegistry();
        meters.bindTo(composite);
        composite.add(simple);
        meters.refresh();
        assertThat(requests(simple)).isEqualTo(1);
        composite.remove(simple);
        meters.refresh();
        assertThat(simple.getMeters()).isEmpty();
        others.bindTo(simple);
        assertThat(requests(simple)).isEqualTo(1);
    }

    @Test
    void whatIsBoundByItselfStaysWhenACompositeDropsIt() {
        CompositeMeterRegistry composite = new CompositeMeterRegistry(Clock.SYSTEM, List.of(simple));
        meters.bindTo(composite);
        meters.bindTo(simple);
        composite.remove(simple);
        meters.refresh();
        assertThat(simple.getMeters()).isNotEmpty();
    }

    @Test
    void bindingTwiceDoesNothingAndCountsNothingTwice() {
        exchange();
        CompositeMeterRegistry composite = new CompositeMeterRegistry(Clock.SYSTEM, List.of(simple, prometheus));
        meters.bindTo(simple);
        meters.bindTo(prometheus);
        int before = simple.getMeters().size();
        meters.bindTo(simple);
        meters.bindTo(prometheus);
        meters.bindTo(composite);
        assertThat(simple.getMeters()).hasSize(before);
        assertThat(requests(simple)).isEqualTo(1);
        assertThat(ours(prometheus.scrape())).isEqualTo(ours(metrics.metricsText()));
    }

    @Test
    void aRegistryTakesOneGatewayAtATime() {
        for (MeterRegistry registry : List.of(simple, prometheus)) {
            meters.bindTo(registry);
            assertThatThrownBy(() -> others.bindTo(registry))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("another gateway");
        }
        assertThat(ours(prometheus.scrape())).isEqualTo(ours(metrics.metricsText()));
        meters.close();
        others.bindTo(simple);
        others.bindTo(prometheus);
        assertThat(simple.getMeters()).isNotEmpty();
        assertThat(ours(prometheus.scrape())).isEqualTo(ours(metrics.metricsText()));
    }

    @Test
    void aMemberThatAnotherGatewayHasIsLeftToItUntilThatOneIsClosed() {
        meters.bindTo(simple);
        others.bindTo(new CompositeMeterRegistry(Clock.SYSTEM, List.of(simple, prometheus)));
        assertThat(prometheus.scrape()).contains("gateway_build_info");
        meters.close();
        assertThat(simple.getMeters()).isEmpty();
        others.refresh();
        assertThat(simple.getMeters()).isNotEmpty();
    }

    @Test
    void aRegistryThatIsClosedIsForgotten() {
        meters.bindTo(simple);
        meters.bindTo(prometheus);
        simple.close();
        prometheus.close();
        meters.refresh();
        assertThat(simple.getMeters()).isEmpty();
        assertThat(prometheus.getPrometheusRegistry().scrape().size()).isZero();
    }

    // ---- the end

    @Test
    void closingRemovesWhatIsOursAndNothingElse() {
        simple.counter("orders").increment();
        prometheus.counter("orders").increment();
        meters.bindTo(simple);
        meters.bindTo(prometheus);
        meters.close();
        meters.close();
        meters.refresh();
        assertThat(simple.getMeters())
                .extracting(Meter::getId)
                .extracting(Meter.Id::getName)
                .containsExactly("orders");
        assertThat(prometheus.scrape()).contains("orders_total 1.0").doesNotContain("gateway_");
        assertThatThrownBy(() -> meters.bindTo(simple))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
    }

    /** Counts what it is asked; nothing but the meters refers to it. */
    private static final class Source implements MultiCollector {
        private final MultiCollector inner;

        Source(MultiCollector inner) {
            this.inner = inner;
        }

        @Override
        public MetricSnapshots collect() {
            return inner.collect();
        }
    }

    private WeakReference<Source> boundAndClosed(MeterRegistry... registries) {
        Source source = new Source(metrics.collector());
        try (GatewayMeters closing = new GatewayMeters(source, () -> NAMES, false)) {
            for (MeterRegistry registry : registries) {
                closing.bindTo(registry);
            }
        }
        return new WeakReference<>(source);
    }

    @Test
    void registriesDoNotKeepAClosedGatewayAlive() {
        List<MeterRegistry> kept = new ArrayList<>(List.of(
                simple,
                new PrometheusMeterRegistry(PrometheusConfig.DEFAULT, new PrometheusRegistry(), Clock.SYSTEM),
                new CompositeMeterRegistry(Clock.SYSTEM, List.of(new SimpleMeterRegistry()))));
        WeakReference<Source> source = boundAndClosed(kept.toArray(MeterRegistry[]::new));
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (source.get() != null && System.nanoTime() < deadline) {
            System.gc();
            LockSupport.parkNanos(10_000_000);
        }
        assertThat(source.get()).isNull();
        assertThat(kept).hasSize(3);
    }
}
