package dev.gateway.observe;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.gateway.observe.counts.EndpointMeters;
import dev.gateway.observe.counts.EndpointsOfLoop;
import dev.gateway.observe.metrics.LoopMetrics;
import dev.gateway.observe.metrics.Metrics;
import dev.gateway.observe.metrics.state.UpstreamState;
import dev.gateway.observe.metrics.state.UpstreamState.EndpointState;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.time.TimerWheel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is counted of single endpoints, and for how long. */
class EndpointMetricsTest {
    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final Metrics metrics = new Metrics("1.2.3");
    private final LoopMetrics first = metrics.newLoop(new TimerWheel(loop.eventLoop()), () -> 0);
    private final LoopMetrics second = metrics.newLoop(new TimerWheel(loop.eventLoop()), () -> 0);
    private List<UpstreamState> upstreams = List.of();

    EndpointMetricsTest() {
        metrics.watchUpstreams(() -> upstreams);
    }

    @AfterEach
    void close() {
        metrics.close();
        loop.finishAndReleaseAll();
    }

    private void configured(String... addresses) {
        List<EndpointState> endpoints = new ArrayList<>();
        for (String address : addresses) {
            endpoints.add(new EndpointState(endpoints.size(), address, 1, "healthy", 0, 2, 1, 0, 0));
        }
        upstreams = List.of(new UpstreamState("app", "auto", endpoints));
    }

    private static ExchangeRecord begun(LoopMetrics loop, String endpoint, int index) {
        ExchangeRecord record = Records.record("/", 200, null);
        record.endpoint = new NamedEndpoint(endpoint);
        record.endpointIndex = index;
        loop.onAttemptBegun(record);
        return record;
    }

    private static void attempt(LoopMetrics loop, String endpoint, int index, int status, @Nullable Failure failure) {
        loop.onAttemptEnded(begun(loop, endpoint, index), status, failure, false);
    }

    private String sample(String metric, String endpoint) {
        String start = "gateway_upstream_endpoint_" + metric + "{endpoint=\"" + endpoint + "\",upstream=\"app\"} ";
        return metrics.metricsText()
                .lines()
                .filter(line -> line.startsWith(start))
                .map(line -> line.substring(start.length()))
                .findFirst()
                .orElse("none");
    }

    @Test
    void attemptsAreCountedByTheirEndpointOverAllLoops() {
        configured("a:1", "b:1");
        attempt(first, "a:1", 0, 200, null);
        attempt(second, "a:1", 0, 503, null);
        attempt(second, "b:1", 1, 0, Failure.of(Cause.CONNECT_FAILED, "refused"));
        begun(first, "b:1", 1);
        assertThat(sample("requests_total", "a:1")).isEqualTo("2.0");
        assertThat(sample("failures_total", "a:1")).isEqualTo("1.0");
        assertThat(sample("requests_active", "a:1")).isEqualTo("0.0");
        assertThat(sample("requests_duration_seconds_count", "a:1")).isEqualTo("2");
        assertThat(sample("requests_total", "b:1")).isEqualTo("1.0");
        assertThat(sample("failures_total", "b:1")).isEqualTo("1.0");
        assertThat(sample("requests_active", "b:1")).isEqualTo("1.0");
        assertThat(sample("connections_active", "b:1")).isEqualTo("3.0");
        assertThat(sample("connections_idle", "b:1")).isEqualTo("2.0");
        assertThat(metrics.statsJson())
                .contains("\"address\":\"a:1\"", "\"pending\":0,\"requests\":2,\"failures\":1,\"requestsActive\":0,");
    }

    @Test
    void anEndpointHasSeriesBeforeItsFirstRequest() {
        configured("a:1");
        assertThat(sample("requests_total", "a:1")).isEqualTo("0.0");
        assertThat(sample("failures_total", "a:1")).isEqualTo("0.0");
        assertThat(sample("requests_duration_seconds_count", "a:1")).isEqualTo("0");
    }

    @Test
    void anEndpointBeyondTheHundredthIsOneOfTheOthers() {
        String[] addresses = new String[130];
        for (int i = 0; i < addresses.length; i++) {
            addresses[i] = "e" + i + ":1";
        }
        configured(addresses);
        for (int i = 0; i < addresses.length; i++) {
            attempt(first, addresses[i], i, 200, null);
        }
        assertThat(sample("requests_total", "e99:1")).isEqualTo("1.0");
        assertThat(sample("requests_total", "e100:1")).isEqualTo("none");
        assertThat(sample("requests_total", "other")).isEqualTo("30.0");
        assertThat(sample("connections_active", "other")).isEqualTo("90.0");
        assertThat(metrics.metricsText()
                        .lines()
                        .filter(line -> line.startsWith("gateway_upstream_endpoint_requests_total{"))
                        .count())
                .isEqualTo(101);
        assertThat(metrics.endpoint("app", 99, "e99:1")).isNotNull();
        assertThat(metrics.endpoint("app", 100, "e100:1")).isNull();
    }

    @Test
    void aSeriesEndsWithItsEndpoint() {
        configured("a:1", "b:1");
        attempt(first, "a:1", 0, 200, null);
        attempt(first, "b:1", 1, 200, null);
        configured("b:1");
        assertThat(sample("requests_total", "a:1")).isEqualTo("none");
        assertThat(sample("requests_total", "b:1")).isEqualTo("1.0");
        attempt(first, "b:1", 0, 200, null); // the same address, made anew, at another position
        assertThat(sample("requests_total", "b:1")).isEqualTo("2.0");
    }

    @Test
    void whatWasCountedOfAnEndpointIsForgottenAMinuteAfterItIsGone() {
        EndpointsOfLoop endpoints = new EndpointsOfLoop();
        String a = "a:1";
        EndpointMeters meters = endpoints.onLoop(new NamedEndpoint(a), 0);
        endpoints.onLoop(new NamedEndpoint("b:1"), 1);
        long minute = TimeUnit.MINUTES.toNanos(1);
        endpoints.keepOnly(Set.of("b:1"), 1);
        endpoints.keepOnly(Set.of("b:1"), minute);
        assertThat(endpoints.of(a)).isSameAs(meters);
        endpoints.keepOnly(Set.of("a:1", "b:1"), minute + 2); // it has come back
        endpoints.keepOnly(Set.of("b:1"), 3 * minute);
        assertThat(endpoints.of(a)).isSameAs(meters);
        endpoints.keepOnly(Set.of("b:1"), 4 * minute + 2);
        assertThat(endpoints.of(a)).isNull();
        assertThat(endpoints.of("b:1")).isNotNull();
        assertThat(endpoints.onLoop(new NamedEndpoint(a), 0))
                .isNotSameAs(meters)
                .isSameAs(endpoints.of(a));
    }

    @Test
    void anAttemptThatGoesToAnotherEndpointIsThatOnesAlone() {
        configured("a:1", "b:1");
        ExchangeRecord record = begun(first, "a:1", 0);
        record.endpoint = new NamedEndpoint("b:1");
        record.endpointIndex = 1;
        first.onAttemptMoved(record);
        assertThat(sample("requests_active", "a:1")).isEqualTo("0.0");
        assertThat(sample("requests_active", "b:1")).isEqualTo("1.0");
        first.onAttemptEnded(record, 200, null, false);
        assertThat(sample("requests_total", "a:1")).isEqualTo("0.0");
        assertThat(sample("requests_total", "b:1")).isEqualTo("1.0");
        assertThat(sample("requests_active", "b:1")).isEqualTo("0.0");
    }

    @Test
    void countingARequestAllocatesNothing() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        ExchangeRecord record = Records.record("/", 200, null);
        record.endpoint = new NamedEndpoint("a:1");
        record.endpointIndex = 0;
        long before = 0;
        int rounds = 20_000;
        for (int i = 0; i < 2 * rounds; i++) {
            if (i == rounds) {
                before = threads.getCurrentThreadAllocatedBytes();
            }
            first.onBegun(record);
            first.onAttemptBegun(record);
            first.onAttemptEnded(record, 200, null, false);
            first.onCompleted(record);
        }
        assertThat((threads.getCurrentThreadAllocatedBytes() - before) / rounds)
                .as("bytes per request")
                .isZero();
    }

    @Test
    void whatRequestsNameHasNoSeries() {
        upstreams = List.of(new UpstreamState("app", "auto", List.of()));
        attempt(first, "stranger.test:443", -1, 200, null);
        assertThat(metrics.metricsText()).doesNotContain("stranger", "endpoint=");
    }

    @ParameterizedTest
    @EnumSource(Cause.class)
    void onlyWhatIsTheEndpointsOwnFaultTellsAgainstIt(Cause cause) {
        Set<Cause> own = Set.of(
                Cause.DNS_FAILED,
                Cause.CONNECT_FAILED,
                Cause.CONNECT_TIMEOUT,
                Cause.TLS_FAILED,
                Cause.UPSTREAM_RESET_BEFORE_HEADERS,
                Cause.UPSTREAM_RESET_IN_BODY,
                Cause.UPSTREAM_PROTOCOL_ERROR,
                Cause.UPSTREAM_TIMEOUT);
        assertThat(EndpointMeters.isFailed(0, new Failure(cause, 502, RetrySafety.NEVER, false, "")))
                .isEqualTo(own.contains(cause));
        assertThat(EndpointMeters.isFailed(0, new Failure(cause, 502, RetrySafety.NEVER, true, "")))
                .as("a kept connection that had just been closed")
                .isFalse();
    }
}
