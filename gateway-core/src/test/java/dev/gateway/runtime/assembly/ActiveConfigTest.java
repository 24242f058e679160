package dev.gateway.runtime.assembly;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.ConnectConfig;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.connect.assembly.ConnectShared;
import dev.gateway.files.StartException;
import dev.gateway.filter.FilterStates;
import dev.gateway.observe.meters.ConfiguredNames;
import dev.gateway.overload.memory.CacheMemory;
import dev.gateway.testing.RecordCopy;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.NamedByRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What goes on in the next generation is what it is called after. */
@SuppressWarnings("StringConcatToTextBlock") // the lines are long
class ActiveConfigTest {
    private static final String LISTENERS =
            "listeners: [{name: egress, address: 127.0.0.1, port: 0, protocol: HTTP}]\n";

    @Test
    void anUpstreamIsNotMistakenForAConnectEntryOfItsName() throws Exception {
        UpstreamConfig upstream = config("routes: [{rules: [{backendRefs: [{name: connect-1}]}]}]\n"
                        + "upstreams: [{name: connect-1, endpoints: [{host: 127.0.0.1, port: 9000}]}]\n")
                .upstreams()
                .get(0);
        GatewayConfig other = config("connect: [{parentRefs: [{name: egress}], allow: [a.example]}]\n");
        ConnectConfig entry = other.connect().get(0);
        assertThat(entry.name()).isEqualTo(upstream.name());
        // No file says so: the checks refuse a name for both.
        GatewayConfig both = RecordCopy.of(other, Map.of("upstreams", List.of(upstream)));
        ActiveConfig activeConfig = new ActiveConfig(both, snapshot(both, null));

        Upstream same = Objects.requireNonNull(activeConfig.same(upstream, null));
        assertThat(same.balancer()).isNotInstanceOf(NamedByRequest.class);
        assertThat(activeConfig.upstream(upstream.name())).isSameAs(same);
        assertThat(activeConfig.heir(same)).isSameAs(same);
        Upstream named =
                Objects.requireNonNull(activeConfig.same(entry)).upstreams().get(0);
        assertThat(activeConfig.heir(named)).isSameAs(named);
    }

    @Test
    void anotherLocalZoneMakesUpstreamsAnew() throws Exception {
        GatewayConfig before = config(upstream(5));
        ActiveConfig former = new ActiveConfig(before, snapshot(before, null));
        assertThat(snapshot(before, former).upstreams()).isEqualTo(former.snapshot.upstreams());
        GatewayConfig moved = config(upstream(5) + "localZone: eu-1a\n");
        assertThat(snapshot(moved, former).upstreams()).doesNotContainAnyElementsOf(former.snapshot.upstreams());
    }

    @Test
    void howEndpointsAreGoesOnAsItIsWhenTheNextGenerationTakesOver() throws Exception {
        GatewayConfig before = config(upstream(5));
        ActiveConfig former = new ActiveConfig(before, snapshot(before, null));
        Upstream changed = Objects.requireNonNull(former.upstream("app"));
        GatewayConfig after = config(upstream(6));
        ActiveConfig next = new ActiveConfig(after, snapshot(after, former));
        Upstream made = Objects.requireNonNull(next.upstream("app"));
        assertThat(made).isNotSameAs(changed);

        changed.health().drain("127.0.0.1:9001", true); // late, but before the other is used
        next.inherit(former);
        assertThat(made.endpoints().stream()
                        .map(each -> made.health().report(each).state()))
                .containsExactly(Health.State.HEALTHY, Health.State.DRAINING);

        ActiveConfig same = new ActiveConfig(after, snapshot(after, next));
        same.inherit(next);
        assertThat(same.upstream("app")).isSameAs(made);
        assertThat(made.health().report(made.endpoints().get(1)).state()).isEqualTo(Health.State.DRAINING);
    }

    @Test
    void itsNamesAreThoseThatLabelsOfMetricsHave() throws Exception {
        GatewayConfig config = config("routes:\n"
                + "  - {name: shop, rules: [{backendRefs: [{name: app}]}]}\n"
                + "  - name: docs\n"
                + "    rules:\n"
                + "      - {name: old, matches: [{path: {value: /old}}], backendRefs: [{name: app}]}\n"
                + "      - {matches: [{path: {value: /new}}], backendRefs: [{name: app}]}\n"
                + "upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 9000}]}]\n"
                + "connect: [{name: out, parentRefs: [{name: egress}], allow: [a.example]}]\n");
        ConfiguredNames names = new ActiveConfig(config, snapshot(config, null)).names();
        assertThat(names.listeners()).containsExactly("egress");
        assertThat(names.routes()).containsExactlyInAnyOrder("shop", "docs/old", "docs/2", "out", "out/pac");
        assertThat(names.upstreams()).containsExactlyInAnyOrder("app", "out");
    }

    private static String upstream(int maxConnections) {
        return "routes: [{rules: [{backendRefs: [{name: app}]}]}]\n"
                + "upstreams: [{name: app, circuitBreaker: {maxConnections: " + maxConnections + "},"
                + " endpoints: [{host: 127.0.0.1, port: 9000}, {host: 127.0.0.1, port: 9001}]}]\n";
    }

    private static Generation snapshot(GatewayConfig config, @Nullable ActiveConfig before) throws StartException {
        return Assembly.snapshot(
                config,
                1,
                Map.of("egress", 0),
                before,
                new ConnectShared(
                        (location, parsing) -> {
                            throw new AssertionError("no filter has keys to fetch");
                        },
                        CacheMemory.UNLIMITED),
                new FilterStates().prepare());
    }

    private static GatewayConfig config(String yaml) {
        byte[] text = (LISTENERS + yaml).getBytes(StandardCharsets.UTF_8);
        LoadResult result = ConfigLoader.parse("gateway.yaml", text, Path.of(""), Map.of());
        assertThat(result).as("%s", result.problems()).isInstanceOf(LoadResult.Valid.class);
        return ((LoadResult.Valid) result).config();
    }
}
