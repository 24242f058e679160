package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.UpstreamValues;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Which endpoints the attempts of a request go to. */
class EndpointUseTest extends PartRig {
    private final List<Endpoint> endpoints = IntStream.range(0, 200)
            .mapToObj(i -> new Endpoint(i, "127.0.0.1", 1000 + i, 1))
            .toList();

    private final class Use extends EndpointUse {
        Use(Upstream of) {
            super(exchange(), of, false);
        }

        @Override
        public long leftMillis() {
            return Long.MAX_VALUE;
        }
    }

    private EndpointUse use() {
        Upstream many = new Upstream(
                "many", endpoints, RoundRobin::new, UpstreamValues.builder().build());
        return new Use(many);
    }

    @Test
    void itRemembersEachEndpointThatItHasTried() {
        EndpointUse use = use();
        for (int index : new int[] {0, 63, 64, 199, 1}) {
            assertThat(use.isTried(endpoints.get(index))).isFalse();
            use.begin(endpoints.get(index));
            assertThat(use.isTried(endpoints.get(index))).isTrue();
        }
        assertThat(endpoints.stream().filter(use::isTried))
                .extracting(Endpoint::index)
                .containsExactly(0, 1, 63, 64, 199);
    }

    @Test
    void everyEndpointIsTriedBeforeOneIsTriedAgain() {
        EndpointUse use = use();
        Set<Endpoint> tried = new HashSet<>();
        for (int i = 0; i < endpoints.size(); i++) {
            Endpoint chosen = Objects.requireNonNull(use.choose());
            use.begin(chosen);
            tried.add(chosen);
        }
        assertThat(tried).hasSize(endpoints.size());
        assertThat(use.choose()).isNotNull();
    }

    @Test
    void whatIsLeftIsChosenAtRandomIfTheBalancerInsistsOnOne() {
        Set<Endpoint> chosen = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            Upstream insisting = new Upstream(
                    "insisting",
                    endpoints,
                    hosts -> request -> hosts.get(0).endpoint(),
                    UpstreamValues.builder().build());
            EndpointUse use = new Use(insisting);
            use.begin(endpoints.get(0));
            chosen.add(Objects.requireNonNull(use.choose()));
        }
        assertThat(chosen).hasSizeGreaterThan(30).doesNotContain(endpoints.get(0));
    }
}
