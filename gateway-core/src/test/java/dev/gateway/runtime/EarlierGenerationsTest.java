package dev.gateway.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.runtime.EarlierGenerations.Held;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.NamedByRequest;
import dev.gateway.upstream.dial.UpstreamValues;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Which earlier generations stay, and which give way. */
class EarlierGenerationsTest {
    private static final Held NOTHING = new Held(0, List.of(), List.of());

    private final EarlierGenerations limit = new EarlierGenerations(1024 * 1024, 4);

    private static List<Upstream> upstreams(int count) {
        List<Endpoint> endpoints = List.of(new Endpoint(0, "app.test", 9000, 1));
        return IntStream.range(0, count)
                .mapToObj(i -> new Upstream(
                        "app",
                        endpoints,
                        NamedByRequest.POLICY,
                        UpstreamValues.builder().build()))
                .toList();
    }

    private static int stay(EarlierGenerations limit, Held each, Held active) {
        return limit.staying(Collections.nCopies(1000, each), active);
    }

    @Test
    void manyStayThatHoldLittle() {
        assertThat(stay(limit, new Held(1, List.of(), List.of()), NOTHING)).isEqualTo(128);
        assertThat(stay(EarlierGenerations.ofHeap(256L << 20, 4), new Held(1, List.of(), List.of()), NOTHING))
                .isEqualTo(1000);
    }

    @Test
    void fewStayWhoseRulesAreInUse() {
        assertThat(stay(limit, new Held(220, List.of(), List.of()), NOTHING)).isEqualTo(1);
    }

    @Test
    void whatAllHoldIsTold() {
        Held own = new Held(1, upstreams(20), List.of("one"));
        Held active = new Held(9, own.upstreams(), List.of());
        assertThat(limit.bytes(List.of(), active)).isZero();
        assertThat(limit.bytes(Collections.nCopies(2, own), active)).isEqualTo((2 * 8 + 1024) * 1024);
        assertThat(limit.bytes(List.of(own), NOTHING)).isEqualTo((8 + 1024 + 20 * (3 + 1 + 4 * 2)) * 1024);
    }

    @Test
    void upstreamsCountOnce() {
        Held own = new Held(1, upstreams(20), List.of());
        assertThat(stay(limit, own, NOTHING)).isEqualTo(98); // which share them
        assertThat(stay(limit, own, new Held(1, own.upstreams(), List.of()))).isEqualTo(128);
        List<Held> each = IntStream.range(0, 1000)
                .mapToObj(i -> new Held(1, upstreams(20), List.of()))
                .toList();
        assertThat(limit.staying(each, NOTHING)).isEqualTo(4);
    }

    @Test
    void codeOfPluginsCountsOnce() {
        EarlierGenerations larger = new EarlierGenerations(3 * 1024 * 1024, 4);
        Held one = new Held(1, List.of(), List.of("one"));
        Held two = new Held(1, List.of(), List.of("two"));
        Held three = new Held(1, List.of(), List.of("three"));
        assertThat(larger.staying(List.of(one, two, one, three, one), NOTHING)).isEqualTo(3);
        assertThat(larger.staying(List.of(one, two, one, three, one), one)).isEqualTo(5);
    }
}
