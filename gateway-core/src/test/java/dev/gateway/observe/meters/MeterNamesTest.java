package dev.gateway.observe.meters;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Tag;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What metrics of {@code /metrics} are called as meters, and whose names a configuration lacks. */
class MeterNamesTest {
    @Test
    void underscoresBecomeDots() {
        assertThat(MeterNames.name("gateway_h2_flow_control_pauses")).isEqualTo("gateway.h2.flow.control.pauses");
    }

    @Test
    void theUnitOfATimeIsTheRegistrysAndLeavesTheName() {
        assertThat(MeterNames.name("gateway_eventloop_lag_seconds")).isEqualTo("gateway.eventloop.lag");
        assertThat(MeterNames.isTime("gateway_eventloop_lag_seconds")).isTrue();
        assertThat(MeterNames.unit("gateway_eventloop_lag_seconds")).isNull();
    }

    @Test
    void bytesStayInTheNameAndAreTheBaseUnit() {
        assertThat(MeterNames.name("gateway_tunnels_bytes")).isEqualTo("gateway.tunnels.bytes");
        assertThat(MeterNames.isTime("gateway_tunnels_bytes")).isFalse();
        assertThat(MeterNames.unit("gateway_tunnels_bytes")).isEqualTo("bytes");
        assertThat(MeterNames.unit("gateway_tunnels")).isNull();
    }

    @Test
    void anEmptyLabelBecomesATagThatSaysNone() {
        assertThat(MeterNames.tags(Labels.of("cause", "", "code", "200")))
                .containsExactly(Tag.of("cause", "none"), Tag.of("code", "200"));
    }

    @Test
    void boundsAreWrittenAsPrometheusWritesThem() {
        assertThat(MeterNames.bound(0.0025)).isEqualTo("0.0025");
        assertThat(MeterNames.bound(Double.POSITIVE_INFINITY)).isEqualTo("+Inf");
    }

    @Test
    void labelsLackANameOfEachKindByItself() {
        ConfiguredNames names = new ConfiguredNames(Set.of("web"), Set.of("shop"), Set.of("app"));
        assertThat(names.lacks(Labels.of("listener", "web", "route", "shop", "upstream", "app")))
                .isFalse();
        assertThat(names.lacks(Labels.of("listener", "web", "route", ""))).isFalse();
        assertThat(names.lacks(Labels.of("loop", "0"))).isFalse();
        assertThat(names.lacks(Labels.of("listener", "shop"))).isTrue();
        assertThat(names.lacks(Labels.of("route", "app"))).isTrue();
        assertThat(names.lacks(Labels.of("upstream", "web"))).isTrue();
    }
}
