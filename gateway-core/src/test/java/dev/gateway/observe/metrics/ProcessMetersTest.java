package dev.gateway.observe.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.OverloadConfig;
import dev.gateway.observe.metrics.state.CertificateExpiry;
import dev.gateway.observe.metrics.state.Denials;
import dev.gateway.observe.metrics.state.UpstreamState;
import dev.gateway.overload.Overload;
import dev.gateway.overload.Pressure;
import dev.gateway.overload.Resource;
import dev.gateway.overload.memory.MemoryBudget;
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
        metrics.onEarlierHeld(4096, 65_536);
        assertThat(scrape())
                .containsEntry("gateway_config_reloads_total{result=\"success\"}", 2.0)
                .containsEntry("gateway_config_reloads_total{result=\"failure\"}", 1.0)
                .containsEntry("gateway_config_generation", 3.0)
                .containsEntry("gateway_config_generations_draining", 2.0)
                .containsEntry("gateway_config_generations_held_bytes", 4096.0)
                .containsEntry("gateway_config_generations_max_bytes", 65_536.0);
    }

    @Test
    void whatIsStaleOrDroppedIsReadAtEachScrape() {
        int[] number = {0};
        metrics.addFaultyAccountFiles(() -> number[0]);
        metrics.addNames(() -> number[0] + 1, () -> number[0] + 6L);
        metrics.addDroppedLog(() -> number[0] + 2L);
        metrics.addDroppedSpans(() -> true, () -> number[0] + 3L);
        metrics.addExports(() -> true, () -> number[0] + 4L, () -> number[0] + 5L);
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

    @Test
    void whatIsNotExportedHasNoSeriesUnlessItHasCounted() {
        boolean[] on = {false};
        long[] counted = {0};
        metrics.addDroppedSpans(() -> on[0], () -> counted[0]);
        metrics.addExports(() -> on[0], () -> 0, () -> counted[0]);
        assertThat(scrape().keySet()).noneMatch(ProcessMetersTest::isOfExports);
        on[0] = true;
        assertThat(scrape())
                .containsEntry("gateway_tracing_spans_dropped_total", 0.0)
                .containsEntry("gateway_metrics_exports_total{result=\"success\"}", 0.0)
                .containsEntry("gateway_metrics_exports_total{result=\"failure\"}", 0.0);
        on[0] = false;
        counted[0] = 2;
        assertThat(scrape())
                .containsEntry("gateway_tracing_spans_dropped_total", 2.0)
                .containsEntry("gateway_metrics_exports_total{result=\"success\"}", 0.0)
                .containsEntry("gateway_metrics_exports_total{result=\"failure\"}", 2.0);
    }

    private static boolean isOfExports(String series) {
        return series.startsWith("gateway_tracing") || series.startsWith("gateway_metrics_exports");
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
        overload.watch(new Used(Resource.OPEN_FILES, OverloadConfig.DEFAULT.openFiles() + 0.01));
        overload.review();
        metrics.watchOverload(overload, new MemoryBudget(1_000, 1), new MemoryBudget(2_000, 1));
        assertThat(scrape())
                .containsEntry("gateway_overload_state", 1.0)
                .containsEntry("gateway_overload_pressure{resource=\"heap\"}", 0.25)
                .containsEntry(
                        "gateway_overload_pressure{resource=\"openFiles\"}", OverloadConfig.DEFAULT.openFiles() + 0.01)
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
