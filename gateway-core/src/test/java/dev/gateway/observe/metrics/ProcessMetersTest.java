package dev.gateway.observe.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.observe.Histogram;
import dev.gateway.overload.MemoryBudget;
import dev.gateway.overload.Overload;
import dev.gateway.overload.OverloadSettings;
import dev.gateway.overload.Pressure;
import dev.gateway.overload.Resource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How a scrape names what other parts of the gateway count. */
class ProcessMetersTest {
    private final Metrics metrics = new Metrics("1.2.3");

    @AfterEach
    void close() {
        metrics.close();
    }

    private Map<String, Double> scrape() {
        return Samples.of(metrics);
    }

    @Test
    void aFreshProcessHasItsCountersFromTheStart() {
        assertThat(scrape())
                .containsEntry(
                        "gateway_build_info{java=\"" + ProcessMeters.javaVersion() + "\",version=\"1.2.3\"}", 1.0)
                .containsEntry("gateway_config_generation", 0.0)
                .containsEntry("gateway_config_generations_draining", 0.0)
                .containsEntry("gateway_config_reloads_total{result=\"success\"}", 0.0)
                .containsEntry("gateway_config_reloads_total{result=\"failure\"}", 0.0)
                .containsEntry("gateway_auth_files_stale", 0.0)
                .containsEntry("gateway_dns_stale_names", 0.0)
                .containsEntry("gateway_dns_early_lookups_total", 0.0)
                .containsEntry("gateway_accesslog_dropped_total", 0.0)
                .containsEntry("gateway_log_dropped_total", 0.0)
                .containsEntry("gateway_tracing_spans_dropped_total", 0.0)
                .containsEntry("gateway_metrics_exports_total{result=\"success\"}", 0.0)
                .containsEntry("gateway_metrics_exports_total{result=\"failure\"}", 0.0)
                .containsEntry("gateway_ratelimit_untracked_total", 0.0)
                .containsKeys(
                        "gateway_direct_memory_used_bytes",
                        "gateway_direct_memory_max_bytes",
                        "gateway_direct_memory_pauses_total",
                        "gateway_direct_memory_cuts_total",
                        "gateway_direct_memory_failures_total");
    }

    @Test
    void aProcessWithoutItsOwnEventLoopsSaysNothingOfOverload() {
        assertThat(scrape().keySet())
                .noneMatch(name -> name.startsWith("gateway_overload"))
                .noneMatch(name -> name.startsWith("gateway_client_heap"))
                .noneMatch(name -> name.startsWith("gateway_waiting_bodies"));
    }

    @Test
    void reloadsAreCountedByWhatCameOfThem() {
        metrics.onReload(true);
        metrics.onReload(true);
        metrics.onReload(false);
        metrics.onGeneration(3, 2);
        assertThat(scrape())
                .containsEntry("gateway_config_reloads_total{result=\"success\"}", 2.0)
                .containsEntry("gateway_config_reloads_total{result=\"failure\"}", 1.0)
                .containsEntry("gateway_config_generation", 3.0)
                .containsEntry("gateway_config_generations_draining", 2.0);
    }

    @Test
    void whatIsStaleOrDroppedIsReadAtEachScrape() {
        int[] number = {0};
        metrics.addFaultyAccountFiles(() -> number[0]);
        metrics.addNames(() -> number[0] + 1, () -> number[0] + 6L);
        metrics.addDroppedLog(() -> number[0] + 2L);
        metrics.addDroppedSpans(() -> number[0] + 3L);
        metrics.addExports(() -> number[0] + 4L, () -> number[0] + 5L);
        scrape();
        number[0] = 10;
        assertThat(scrape())
                .containsEntry("gateway_auth_files_stale", 10.0)
                .containsEntry("gateway_dns_stale_names", 11.0)
                .containsEntry("gateway_dns_early_lookups_total", 16.0)
                .containsEntry("gateway_log_dropped_total", 12.0)
                .containsEntry("gateway_tracing_spans_dropped_total", 13.0)
                .containsEntry("gateway_metrics_exports_total{result=\"success\"}", 14.0)
                .containsEntry("gateway_metrics_exports_total{result=\"failure\"}", 15.0);
    }

    private static void limit(LimitDecisions decisions) {
        decisions.decided("shop", "default", true, 7);
        decisions.decided("shop", "default", false, 2);
        decisions.decided("shop", "default", true, 1); // of another rule with the same names
    }

    @Test
    void decisionsOfLimitsAreAllowedOrDenied() {
        metrics.addLimits(ProcessMetersTest::limit, () -> 4);
        String name = "gateway_ratelimit_decisions_total";
        assertThat(scrape())
                .containsEntry(name + "{decision=\"allowed\",limit=\"default\",route=\"shop\"}", 8.0)
                .containsEntry(name + "{decision=\"denied\",limit=\"default\",route=\"shop\"}", 2.0)
                .containsEntry("gateway_ratelimit_untracked_total", 4.0);
    }

    private static void store(StoreCounts stores) {
        Histogram first = new Histogram(Histogram.Buckets.REQUEST);
        first.record(2_000_000);
        Histogram second = new Histogram(Histogram.Buckets.REQUEST);
        second.record(20_000_000_000L);
        stores.decided("counts", "denied", 3);
        stores.state("counts", true, List.of(first, second));
        stores.state("gone", false, List.of());
    }

    @Test
    void aStoreTellsWhetherItAnswersAndHowFast() {
        metrics.addStores(ProcessMetersTest::store);
        String duration = "gateway_ratelimit_store_duration_seconds";
        assertThat(scrape())
                .containsEntry("gateway_ratelimit_store_decisions_total{result=\"denied\",store=\"counts\"}", 3.0)
                .containsEntry("gateway_ratelimit_store_up{store=\"counts\"}", 1.0)
                .containsEntry("gateway_ratelimit_store_up{store=\"gone\"}", 0.0)
                .containsEntry(duration + "_bucket{store=\"counts\",le=\"0.001\"}", 0.0)
                .containsEntry(duration + "_bucket{store=\"counts\",le=\"0.0025\"}", 1.0)
                .containsEntry(duration + "_bucket{store=\"counts\",le=\"10.0\"}", 1.0)
                .containsEntry(duration + "_count{store=\"counts\"}", 2.0)
                .containsEntry(duration + "_sum{store=\"counts\"}", 20.002)
                .doesNotContainKey(duration + "_count{store=\"gone\"}");
    }

    private static void authorize(AuthDecisions decisions) {
        decisions.decided("shop", "allowed", 5);
        decisions.decided("shop", "error", 1);
    }

    @Test
    void decisionsOfAuthServersHaveAWordEach() {
        metrics.addAuthorizations(ProcessMetersTest::authorize);
        assertThat(scrape())
                .containsEntry("gateway_external_auth_decisions_total{decision=\"allowed\",route=\"shop\"}", 5.0)
                .containsEntry("gateway_external_auth_decisions_total{decision=\"error\",route=\"shop\"}", 1.0);
    }

    private static void fetch(KeySetCounts keySets) {
        keySets.keySet("https://good.test/keys", 3, 1, 12.5);
        keySets.keySet("https://never.test/keys", 0, 2, Double.NaN);
    }

    @Test
    void keysThatWereNeverFetchedHaveNoAge() {
        metrics.addKeySets(ProcessMetersTest::fetch);
        assertThat(scrape())
                .containsEntry("gateway_jwks_fetches_total{result=\"success\",url=\"https://good.test/keys\"}", 3.0)
                .containsEntry("gateway_jwks_fetches_total{result=\"failure\",url=\"https://good.test/keys\"}", 1.0)
                .containsEntry("gateway_jwks_age_seconds{url=\"https://good.test/keys\"}", 12.5)
                .containsEntry("gateway_jwks_fetches_total{result=\"success\",url=\"https://never.test/keys\"}", 0.0)
                .containsEntry("gateway_jwks_fetches_total{result=\"failure\",url=\"https://never.test/keys\"}", 2.0)
                .doesNotContainKey("gateway_jwks_age_seconds{url=\"https://never.test/keys\"}");
    }

    private static void compress(CompressionCounts counts) {
        counts.compressed("shop", 1000, 300, 2);
    }

    @Test
    void compressionIsCountedByRoute() {
        metrics.addCompression(ProcessMetersTest::compress);
        assertThat(scrape())
                .containsEntry("gateway_compression_input_bytes_total{route=\"shop\"}", 1000.0)
                .containsEntry("gateway_compression_output_bytes_total{route=\"shop\"}", 300.0)
                .containsEntry("gateway_compression_skipped_total{route=\"shop\"}", 2.0);
    }

    private static void mirror(MirrorCounts counts) {
        counts.active("shop", "shadow", 4);
        counts.ended("shop", "shadow", "answered", 9);
        counts.ended("shop", "shadow", "slow", 1);
    }

    @Test
    void copiesOfRequestsAreCountedByWhatBecameOfThem() {
        metrics.addMirrors(ProcessMetersTest::mirror);
        assertThat(scrape())
                .containsEntry("gateway_mirror_requests_active{route=\"shop\",upstream=\"shadow\"}", 4.0)
                .containsEntry(
                        "gateway_mirror_requests_total{result=\"answered\",route=\"shop\",upstream=\"shadow\"}", 9.0)
                .containsEntry(
                        "gateway_mirror_requests_total{result=\"slow\",route=\"shop\",upstream=\"shadow\"}", 1.0);
    }

    private static void spend(FilterDurations durations) {
        durations.spent("JWT", "request", new double[] {0.001, 0.01}, new long[] {5, 2, 1}, 0.75);
    }

    @Test
    void theTimeOfAFilterIsAHistogramOfItsPhase() {
        metrics.addFilterDurations(ProcessMetersTest::spend);
        String name = "gateway_filter_duration_seconds";
        assertThat(scrape())
                .containsEntry(name + "_bucket{filter=\"JWT\",phase=\"request\",le=\"0.001\"}", 5.0)
                .containsEntry(name + "_bucket{filter=\"JWT\",phase=\"request\",le=\"0.01\"}", 7.0)
                .containsEntry(name + "_bucket{filter=\"JWT\",phase=\"request\",le=\"+Inf\"}", 8.0)
                .containsEntry(name + "_sum{filter=\"JWT\",phase=\"request\"}", 0.75);
    }

    private static void deny(Denials denials) {
        denials.denied("egress", "allowedPorts", 3);
        denials.denied("egress", "deny", 1);
    }

    @Test
    void whatSeveralPoliciesRefuseIsAddedUp() {
        metrics.addDenials(ProcessMetersTest::deny);
        metrics.addDenials(ProcessMetersTest::deny);
        assertThat(scrape())
                .containsEntry("gateway_connect_denied_total{listener=\"egress\",rule=\"allowedPorts\"}", 6.0)
                .containsEntry("gateway_connect_denied_total{listener=\"egress\",rule=\"deny\"}", 2.0);
    }

    @Test
    void ofTwoCertificatesOfOneNameTheFirstToEndIsShown() {
        metrics.watch(() -> List.of(
                new CertificateExpiry("listener", "web", "a.test", 2_000),
                new CertificateExpiry("listener", "web", "a.test", 1_000),
                new CertificateExpiry("upstream", "app", "a.test", 3_000)));
        assertThat(scrape())
                .containsEntry("gateway_certificate_not_after_seconds{listener=\"web\",name=\"a.test\"}", 1_000.0)
                .containsEntry("gateway_certificate_not_after_seconds{name=\"a.test\",upstream=\"app\"}", 3_000.0);
    }

    /** A resource that is used as a test says. */
    private record Used(Resource resource, double level) implements Pressure {}

    @Test
    void aScrapeTellsWhatIsShortAndWhatIsRefused() {
        Overload overload = new Overload();
        overload.watch(new Used(Resource.HEAP, 0.25));
        overload.watch(new Used(Resource.OPEN_FILES, OverloadSettings.DEFAULT.openFiles() + 0.01));
        overload.review();
        metrics.watchOverload(overload, new MemoryBudget(1_000, 1), new MemoryBudget(2_000, 1));
        assertThat(scrape())
                .containsEntry("gateway_overload_state", 1.0)
                .containsEntry("gateway_overload_pressure{resource=\"heap\"}", 0.25)
                .containsEntry(
                        "gateway_overload_pressure{resource=\"openFiles\"}",
                        OverloadSettings.DEFAULT.openFiles() + 0.01)
                .containsEntry("gateway_overload_actions_total{action=\"end_keep_alive\",resource=\"lag\"}", 0.0)
                .containsEntry("gateway_client_heap_used_bytes", 0.0)
                .containsEntry("gateway_client_heap_max_bytes", 1_000.0)
                .containsEntry("gateway_waiting_bodies_used_bytes", 0.0)
                .containsEntry("gateway_waiting_bodies_max_bytes", 2_000.0);
    }

    @Test
    void anUpstreamInPanicIsShown() {
        metrics.watchUpstreams(
                () -> List.of(new UpstreamState("app", "auto", List.of(), List.of(), true, null, false, Set.of())));
        assertThat(scrape())
                .containsEntry("gateway_upstream_panic{upstream=\"app\"}", 1.0)
                .containsEntry("gateway_upstream_ejections_total{upstream=\"app\"}", 0.0)
                .doesNotContainKey("gateway_upstream_local_zone_share{upstream=\"app\"}");
    }
}
