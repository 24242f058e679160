package dev.gateway.observe.meters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What becomes of series in a registry that asks for their values. */
class FunctionMetersTest {
    private static final Labels APP = Labels.of("upstream", "app");
    private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private long now;
    private final FunctionMeters meters = new FunctionMeters(registry, false, () -> now);
    private ConfiguredNames configured = new ConfiguredNames(Set.of("web"), Set.of("shop"), Set.of("app"));

    private void refresh(MetricSnapshot... metrics) {
        meters.refresh(new MetricSnapshots(metrics), configured);
    }

    private static MetricSnapshot counter(String name, double value, Labels labels) {
        return CounterSnapshot.builder()
                .name(name)
                .help("What it counts.")
                .dataPoint(CounterSnapshot.CounterDataPointSnapshot.builder()
                        .labels(labels)
                        .value(value)
                        .build())
                .build();
    }

    private static MetricSnapshot gauge(String name, double value, Labels labels) {
        return GaugeSnapshot.builder()
                .name(name)
                .dataPoint(GaugeSnapshot.GaugeDataPointSnapshot.builder()
                        .labels(labels)
                        .value(value)
                        .build())
                .build();
    }

    /** Of one second each: so many up to 0.5 s, and so many above. */
    private static MetricSnapshot histogram(long below, long above) {
        return HistogramSnapshot.builder()
                .name("gateway_upstream_connect_duration_seconds")
                .dataPoint(HistogramSnapshot.HistogramDataPointSnapshot.builder()
                        .labels(APP)
                        .classicHistogramBuckets(ClassicHistogramBuckets.builder()
                                .bucket(0.5, below)
                                .bucket(Double.POSITIVE_INFINITY, above)
                                .build())
                        .sum((double) (below + above))
                        .build())
                .build();
    }

    private List<String> names() {
        return registry.getMeters().stream()
                .map(meter -> meter.getId().getName())
                .sorted()
                .toList();
    }

    private double count(String name) {
        return registry.get(name).functionCounter().count();
    }

    @Test
    void aCounterTellsWhatWasCountedAtTheLastRefresh() {
        refresh(counter("gateway_pings", 3, APP));
        assertThat(count("gateway.pings")).isEqualTo(3);
        refresh(counter("gateway_pings", 5, APP));
        assertThat(count("gateway.pings")).isEqualTo(5);
        Meter.Id id = registry.get("gateway.pings").meter().getId();
        assertThat(id.getDescription()).isEqualTo("What it counts.");
        assertThat(id.getTag("upstream")).isEqualTo("app");
        assertThat(registry.getMeters()).hasSize(1);
    }

    @Test
    void aCounterOfBytesSaysSo() {
        refresh(counter("gateway_sent_bytes", 7, APP));
        assertThat(registry.get("gateway.sent.bytes").meter().getId().getBaseUnit())
                .isEqualTo("bytes");
    }

    @Test
    void aGaugeOfATimeIsOneOfTheRegistrysUnit() {
        refresh(gauge("gateway_lag_seconds", 1.5, Labels.EMPTY), gauge("gateway_waiting", 4, Labels.EMPTY));
        TimeGauge lag = registry.get("gateway.lag").timeGauge();
        assertThat(lag.value(TimeUnit.MILLISECONDS)).isEqualTo(1_500);
        assertThat(registry.get("gateway.waiting").gauge().value()).isEqualTo(4);
    }

    @Test
    void anInfoIsAGaugeOfOne() {
        refresh(InfoSnapshot.builder()
                .name("gateway_build")
                .dataPoint(InfoSnapshot.InfoDataPointSnapshot.builder()
                        .labels(Labels.of("version", "1.2"))
                        .build())
                .build());
        Gauge build = registry.get("gateway.build.info").tag("version", "1.2").gauge();
        assertThat(build.value()).isEqualTo(1);
    }

    @Test
    void aHistogramIsATimerOfCountAndSum() {
        refresh(histogram(3, 1));
        FunctionTimer timer = registry.get("gateway.upstream.connect.duration").functionTimer();
        assertThat(timer.count()).isEqualTo(4);
        assertThat(timer.totalTime(TimeUnit.SECONDS)).isEqualTo(4);
        assertThat(registry.getMeters()).hasSize(1);
    }

    @Test
    void bucketsAreCountersOfAllBelowTheirBoundIfTheyAreWanted() {
        new FunctionMeters(registry, true, () -> now).refresh(new MetricSnapshots(histogram(3, 1)), configured);
        String name = "gateway.upstream.connect.duration.bucket";
        assertThat(registry.get(name).tag("le", "0.5").functionCounter().count())
                .isEqualTo(3);
        assertThat(registry.get(name).tag("le", "+Inf").functionCounter().count())
                .isEqualTo(4);
    }

    // ---- what is gone

    @Test
    void aMeterGoesWithItsSeriesAndComesBackWithIt() {
        refresh(counter("gateway_pings", 3, APP), counter("gateway_pongs", 3, APP));
        refresh(counter("gateway_pings", 3, APP));
        assertThat(names()).containsExactly("gateway.pings");
        refresh(counter("gateway_pings", 3, APP), counter("gateway_pongs", 4, APP));
        assertThat(count("gateway.pongs")).isEqualTo(4);
    }

    @Test
    void whatAReloadRemovedGoesAMinuteAfterItMovedLast() {
        configured = new ConfiguredNames(Set.of(), Set.of(), Set.of());
        refresh(counter("gateway_pings", 3, APP), counter("gateway_reloads", 1, Labels.EMPTY));
        now += MINUTE - 1;
        refresh(counter("gateway_pings", 4, APP), counter("gateway_reloads", 1, Labels.EMPTY));
        now += MINUTE - 1;
        refresh(counter("gateway_pings", 4, APP), counter("gateway_reloads", 1, Labels.EMPTY));
        assertThat(names()).containsExactly("gateway.pings", "gateway.reloads");
        now += 1;
        refresh(counter("gateway_pings", 4, APP), counter("gateway_reloads", 1, Labels.EMPTY));
        assertThat(names()).containsExactly("gateway.reloads");
    }

    @Test
    void whatTheConfigurationHasStaysHoweverStillItIs() {
        refresh(counter("gateway_pings", 3, APP));
        now += 100 * MINUTE;
        refresh(counter("gateway_pings", 3, APP));
        assertThat(count("gateway.pings")).isEqualTo(3);
    }

    @Test
    void aGaugeOfWhatIsGoneStaysWhileItIsNotZero() {
        configured = new ConfiguredNames(Set.of(), Set.of(), Set.of());
        refresh(gauge("gateway_open", 2, APP));
        now += 2 * MINUTE;
        refresh(gauge("gateway_open", 2, APP));
        assertThat(names()).containsExactly("gateway.open");
        refresh(gauge("gateway_open", 0, APP));
        now += MINUTE;
        refresh(gauge("gateway_open", 0, APP));
        assertThat(names()).isEmpty();
    }

    @Test
    void whatWentComesBackWhenItMovesOrItsNameReturns() {
        ConfiguredNames before = configured;
        configured = new ConfiguredNames(Set.of(), Set.of(), Set.of());
        refresh(counter("gateway_pings", 3, APP), counter("gateway_pongs", 3, APP));
        now += MINUTE;
        refresh(counter("gateway_pings", 3, APP), counter("gateway_pongs", 3, APP));
        assertThat(names()).isEmpty();
        refresh(counter("gateway_pings", 5, APP), counter("gateway_pongs", 3, APP));
        assertThat(names()).containsExactly("gateway.pings");
        configured = before;
        refresh(counter("gateway_pings", 5, APP), counter("gateway_pongs", 3, APP));
        assertThat(count("gateway.pings")).isEqualTo(5);
        assertThat(count("gateway.pongs")).isEqualTo(3);
    }

    // ---- what the application has

    @Test
    void aMeterOfTheApplicationStaysAndOursIsLeftOut() {
        Counter own = registry.counter("gateway.pings", "upstream", "app");
        own.increment(40);
        double[] gauge = {7};
        Gauge same = Gauge.builder("gateway.open", gauge, value -> value[0])
                .tag("upstream", "app")
                .register(registry);
        refresh(counter("gateway_pings", 3, APP), gauge("gateway_open", 1, APP));
        refresh(counter("gateway_pings", 4, APP), gauge("gateway_open", 2, APP));
        assertThat(registry.getMeters()).containsExactlyInAnyOrder(own, same);
        assertThat(own.count()).isEqualTo(40);
        assertThat(same.value()).isEqualTo(7);
        meters.remove();
        assertThat(registry.getMeters()).containsExactlyInAnyOrder(own, same);
    }

    @Test
    void otherTagsMakeAnotherMeterBesideThatOfTheApplication() {
        registry.counter("gateway.pings", "mine", "yes").increment(40);
        refresh(counter("gateway_pings", 3, APP));
        assertThat(registry.get("gateway.pings")
                        .tag("upstream", "app")
                        .functionCounter()
                        .count())
                .isEqualTo(3);
        meters.remove();
        assertThat(registry.get("gateway.pings").counter().count()).isEqualTo(40);
    }

    @Test
    void anApplicationThatWantsOursAsAnotherTypeIsToldSoByTheRegistry() {
        refresh(counter("gateway_pings", 3, APP));
        assertThatThrownBy(() -> registry.counter("gateway.pings", "upstream", "app"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void filtersAndCommonTagsOfTheRegistryHold() {
        registry.config()
                .commonTags("application", "shop")
                .meterFilter(MeterFilter.denyNameStartsWith("gateway.pongs"));
        refresh(counter("gateway_pings", 3, APP), counter("gateway_pongs", 3, APP));
        refresh(counter("gateway_pings", 3, APP), counter("gateway_pongs", 3, APP));
        assertThat(registry.getMeters()).singleElement().satisfies(meter -> assertThat(
                        meter.getId().getTag("application"))
                .isEqualTo("shop"));
        meters.remove();
        assertThat(registry.getMeters()).isEmpty();
    }

    @Test
    void aMeterThatTheApplicationRemovesStaysAway() {
        refresh(counter("gateway_pings", 3, APP));
        Meter ours = Objects.requireNonNull(registry.find("gateway.pings").meter());
        registry.remove(ours);
        refresh(counter("gateway_pings", 4, APP));
        assertThat(registry.getMeters()).isEmpty();
    }
}
