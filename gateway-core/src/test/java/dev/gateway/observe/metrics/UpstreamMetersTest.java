package dev.gateway.observe.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.AttemptKind;
import dev.gateway.observe.Records;
import dev.gateway.observe.metrics.state.UpstreamState;
import dev.gateway.stream.Cause;
import dev.gateway.stream.CloseCause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.stream.RetrySafety;
import dev.gateway.stream.UpstreamObserver;
import dev.gateway.time.TimerWheel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What is counted of connections to an upstream and of attempts there, and how a scrape names it. */
class UpstreamMetersTest {
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final LoopMetrics loop = new LoopMetrics(new TimerWheel(channel.eventLoop()), () -> 0);

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private Map<String, Double> scrape(String... active) {
        List<UpstreamState> upstreams = List.of(active).stream()
                .map(name -> new UpstreamState(name, "auto", List.of()))
                .toList();
        return Samples.of(new UpstreamSource(List.of(loop), () -> upstreams));
    }

    private void attempt(
            AttemptKind kind, int status, @Nullable Failure failure, boolean again, @Nullable Cause cause) {
        ExchangeRecord record = Records.record("/", status, cause);
        record.attemptKind = kind;
        loop.onAttemptBegun(record);
        loop.onAttemptEnded(record, status, failure, again);
    }

    /** Prometheus sees no increase in the first sample of a series, so an alert would miss the first failure. */
    @Test
    void anUpstreamHasItsCountersBeforeAnythingIsCounted() {
        Map<String, Double> samples = scrape("app");
        assertThat(samples)
                .containsEntry(
                        "gateway_upstream_requests_total{attempt=\"first\",code_class=\"5xx\",upstream=\"app\"}", 0.0)
                .containsEntry(
                        "gateway_upstream_requests_total{attempt=\"retry\",code_class=\"none\",upstream=\"app\"}", 0.0)
                .containsEntry(
                        "gateway_upstream_requests_total{attempt=\"hedge\",code_class=\"2xx\",upstream=\"app\"}", 0.0)
                .containsEntry("gateway_upstream_requests_active{upstream=\"app\"}", 0.0)
                .containsEntry("gateway_upstream_connections_total{protocol=\"tcp\",upstream=\"app\"}", 0.0)
                .containsEntry("gateway_upstream_pending_overflow_total{upstream=\"app\"}", 0.0)
                .containsEntry("gateway_upstream_pending_timeout_total{upstream=\"app\"}", 0.0)
                .containsEntry("gateway_upstream_retries_total{result=\"over_budget\",upstream=\"app\"}", 0.0)
                .containsEntry("gateway_upstream_hedges_total{result=\"won\",upstream=\"app\"}", 0.0)
                .containsEntry("gateway_upstream_sessions_total{result=\"moved\",upstream=\"app\"}", 0.0)
                .containsEntry("gateway_upstream_health_checks_total{result=\"failure\",upstream=\"app\"}", 0.0)
                .containsEntry("gateway_pool_stale_total{outcome=\"failed\",upstream=\"app\"}", 0.0)
                .containsEntry("gateway_upstream_connect_duration_seconds_count{upstream=\"app\"}", 0.0)
                .containsEntry("gateway_h2_streams_total{side=\"upstream\"}", 0.0);
        assertThat(scrape()).isEmpty();
    }

    private Map<String, Double> scrapePlain() {
        UpstreamState plain = new UpstreamState(
                "app", "http1", List.of(), List.of(), false, null, false, Set.of(UpstreamState.Feature.HTTP1));
        return Samples.of(new UpstreamSource(List.of(loop), () -> List.of(plain)));
    }

    private static List<String> matching(Map<String, Double> samples, String pattern) {
        return samples.keySet().stream()
                .filter(each -> each.matches(pattern))
                .sorted()
                .toList();
    }

    @Test
    void whatIsOffHasNoSeriesUnlessItHasCounted() {
        String off = "gateway_upstream_(hedges|sessions|health_checks|retries|connect_waits|tls_duration).*"
                + "|.*attempt=\"(hedge|retry)\".*|.*protocol=\"(h2|tcp)\".*|.*cause=\"(health_check|max_lifetime)\".*";
        assertThat(matching(scrape("app"), off)).hasSizeGreaterThan(40);
        assertThat(matching(scrapePlain(), off)).isEmpty();
        assertThat(scrapePlain())
                .containsEntry("gateway_upstream_connections_total{protocol=\"http1\",upstream=\"app\"}", 0.0)
                .containsEntry("gateway_upstream_connection_closed_total{cause=\"drain\",upstream=\"app\"}", 0.0)
                .containsEntry(
                        "gateway_upstream_requests_total{attempt=\"first\",code_class=\"5xx\",upstream=\"app\"}", 0.0);
        loop.upstream("app").onChecked(true);
        loop.upstream("app").onClosed(HttpVersion.HTTP_1_1, false, CloseCause.MAX_LIFETIME);
        loop.upstream("app").onOpened(HttpVersion.HTTP_2, false);
        loop.upstream("app").onClosed(HttpVersion.HTTP_2, false, CloseCause.DRAIN);
        attempt(AttemptKind.HEDGE, 200, null, false, null);
        assertThat(matching(scrapePlain(), off).stream().filter(each -> !each.contains("_seconds")))
                .containsExactly(
                        "gateway_upstream_connection_closed_total{cause=\"max_lifetime\",upstream=\"app\"}",
                        "gateway_upstream_connections_active{protocol=\"h2\",upstream=\"app\"}",
                        "gateway_upstream_connections_idle{protocol=\"h2\",upstream=\"app\"}",
                        "gateway_upstream_connections_total{protocol=\"h2\",upstream=\"app\"}",
                        "gateway_upstream_health_checks_total{result=\"failure\",upstream=\"app\"}",
                        "gateway_upstream_health_checks_total{result=\"success\",upstream=\"app\"}",
                        "gateway_upstream_requests_total{attempt=\"hedge\",code_class=\"2xx\",upstream=\"app\"}");
    }

    private static Set<String> causes(Map<String, Double> samples, String metric) {
        Set<String> causes = new TreeSet<>();
        samples.forEach((name, value) -> {
            if (name.startsWith(metric + "{")) {
                assertThat(value).isZero();
                causes.add(name.replaceAll(".*cause=\"|\".*", ""));
            }
        });
        return causes;
    }

    @Test
    void eachCauseOfAClosedConnectionIsCountedFromZero() {
        assertThat(causes(scrape("app"), "gateway_upstream_connection_closed_total"))
                .containsExactly(
                        "address",
                        "drain",
                        "endpoint",
                        "health_check",
                        "idle_timeout",
                        "limit",
                        "max_lifetime",
                        "max_requests",
                        "request",
                        "tunnel");
    }

    @Test
    void theUsualCausesOfFailedConnectionsAreCountedFromZero() {
        assertThat(causes(scrape("app"), "gateway_upstream_connect_failures_total"))
                .containsExactly("connect_failed", "connect_timeout", "dns_failed", "tls_failed");
        loop.upstream("app").onConnectFailed(Cause.OVERLOAD);
        assertThat(scrape())
                .containsEntry("gateway_upstream_connect_failures_total{cause=\"overload\",upstream=\"app\"}", 1.0);
    }

    @ParameterizedTest
    @EnumSource(CloseCause.class)
    void aClosedConnectionIsCountedByItsCauseAlone(CloseCause cause) {
        UpstreamObserver app = loop.upstream("app");
        app.onOpened(HttpVersion.HTTP_2, true);
        app.onClosed(HttpVersion.HTTP_2, true, cause);
        Map<String, Double> samples = scrape("app");
        for (CloseCause each : CloseCause.values()) {
            assertThat(samples)
                    .containsEntry(
                            "gateway_upstream_connection_closed_total{cause=\"" + each.label() + "\",upstream=\"app\"}",
                            each == cause ? 1.0 : 0.0);
        }
        assertThat(samples)
                .containsEntry("gateway_upstream_connections_total{protocol=\"h2\",upstream=\"app\"}", 1.0)
                .containsEntry("gateway_upstream_connections_active{protocol=\"h2\",upstream=\"app\"}", 0.0);
    }

    @Test
    void aConnectionWithoutTlsHasNoTimeOfAHandshake() {
        UpstreamObserver app = loop.upstream("app");
        app.onConnected(2_000_000, 0);
        app.onConnected(3_000_000, 40_000_000);
        assertThat(scrape())
                .containsEntry("gateway_upstream_connect_duration_seconds_count{upstream=\"app\"}", 2.0)
                .containsEntry("gateway_upstream_connect_duration_seconds_sum{upstream=\"app\"}", 0.005)
                .containsEntry("gateway_upstream_tls_duration_seconds_count{upstream=\"app\"}", 1.0)
                .containsEntry("gateway_upstream_tls_duration_seconds_sum{upstream=\"app\"}", 0.04);
    }

    @Test
    void bytesAndViolationsOfEndpointsAreThoseOfTheirUpstream() {
        UpstreamObserver app = loop.upstream("app");
        app.onReceived(300);
        app.onSent(20);
        app.onViolation("bad_status");
        loop.upstream("other").onSent(1);
        assertThat(scrape())
                .containsEntry("gateway_upstream_received_bytes_total{upstream=\"app\"}", 300.0)
                .containsEntry("gateway_upstream_sent_bytes_total{upstream=\"app\"}", 20.0)
                .containsEntry("gateway_upstream_sent_bytes_total{upstream=\"other\"}", 1.0)
                .containsEntry("gateway_upstream_protocol_violations_total{kind=\"bad_status\",upstream=\"app\"}", 1.0);
    }

    @Test
    void whoWaitsInVainIsCountedByWhatEndedTheWait() {
        UpstreamObserver app = loop.upstream("app");
        app.onPending();
        app.onPendingEnded(5_000_000);
        app.onPendingTimeout();
        app.onPendingOverflow();
        app.onPendingOverflow();
        assertThat(scrape())
                .containsEntry("gateway_upstream_pending_requests{upstream=\"app\"}", 0.0)
                .containsEntry("gateway_upstream_pending_duration_seconds_sum{upstream=\"app\"}", 0.005)
                .containsEntry("gateway_upstream_pending_timeout_total{upstream=\"app\"}", 1.0)
                .containsEntry("gateway_upstream_pending_overflow_total{upstream=\"app\"}", 2.0);
    }

    @ParameterizedTest
    @CsvSource({
        "200, false, false, success",
        "404, false, false, success",
        "404, true, false, failure", // a status of retry.codes
        "404, true, true, failure",
        "500, false, false, failure", // the retry policy may not repeat it, but it is no success
        "503, true, false, failure"
    })
    void aRetrySucceedsIfItsAnswerIsGood(int status, boolean retriable, boolean again, String result) {
        ExchangeRecord record = Records.record("/", status, null);
        record.attemptKind = AttemptKind.RETRY;
        record.isRetriable = retriable;
        loop.onAttemptBegun(record);
        loop.onAttemptEnded(record, status, null, again);
        for (String each : new String[] {"success", "failure"}) {
            assertThat(scrape())
                    .containsEntry(
                            "gateway_upstream_retries_total{result=\"" + each + "\",upstream=\"app\"}",
                            each.equals(result) ? 1.0 : 0.0);
        }
    }

    @Test
    void aRetryThatIsNotAnsweredHasFailed() {
        attempt(AttemptKind.RETRY, 0, Failure.of(Cause.CONNECT_FAILED, "refused"), false, Cause.RETRY_LIMIT);
        assertThat(scrape())
                .containsEntry("gateway_upstream_retries_total{result=\"failure\",upstream=\"app\"}", 1.0)
                .containsEntry("gateway_upstream_retries_total{result=\"over_budget\",upstream=\"app\"}", 0.0);
    }

    @Test
    void aRetryThatTheBudgetForbidsIsCountedWithoutAnAttempt() {
        attempt(AttemptKind.FIRST, 0, Failure.of(Cause.CONNECT_FAILED, "refused"), false, Cause.RETRY_BUDGET);
        assertThat(scrape())
                .containsEntry("gateway_upstream_retries_total{result=\"over_budget\",upstream=\"app\"}", 1.0)
                .containsEntry("gateway_upstream_retries_total{result=\"failure\",upstream=\"app\"}", 0.0)
                .containsEntry(
                        "gateway_upstream_requests_total{attempt=\"first\",code_class=\"none\",upstream=\"app\"}", 1.0);
    }

    @ParameterizedTest
    @CsvSource({"true, retried", "false, failed"})
    void aStaleConnectionIsRetriedOrFails(boolean again, String outcome) {
        Failure stale =
                new Failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, 502, RetrySafety.IF_IDEMPOTENT, true, "closed");
        attempt(AttemptKind.FIRST, 0, stale, again, null);
        for (String each : new String[] {"retried", "failed"}) {
            assertThat(scrape())
                    .containsEntry(
                            "gateway_pool_stale_total{outcome=\"" + each + "\",upstream=\"app\"}",
                            each.equals(outcome) ? 1.0 : 0.0);
        }
    }

    @Test
    void attemptsOfAllKindsAreSumsOfOneUpstream() {
        attempt(AttemptKind.FIRST, 503, null, true, null);
        attempt(AttemptKind.RETRY, 200, null, false, null);
        attempt(AttemptKind.FIRST, 201, null, false, null);
        UpstreamMeters meters = Objects.requireNonNull(loop.upstreams().get("app"));
        Map<String, Long> codes = new TreeMap<>();
        meters.addCodesTo(codes);
        assertThat(codes).isEqualTo(Map.of("2xx", 2L, "5xx", 1L));
        long[] buckets = new long[20];
        assertThat(meters.addDurationsTo(buckets)).isEqualTo(3 * 0.002_999);
        assertThat(buckets[5]).as("from 2.5 to 5 ms").isEqualTo(3);
        Map<String, Long> failures = new TreeMap<>();
        loop.upstream("app").onConnectFailed(Cause.DNS_FAILED);
        meters.addConnectFailuresTo(failures);
        assertThat(failures).isEqualTo(Map.of("dns_failed", 1L));
    }
}
