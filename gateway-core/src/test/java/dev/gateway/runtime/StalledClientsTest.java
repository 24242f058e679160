package dev.gateway.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.overload.StalledPeers;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.UpstreamSettings;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.pool.PoolCounts;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Clients that read nothing do not keep an upstream's connections from those who wait. */
class StalledClientsTest {
    private final Upstream upstream = upstream(UpstreamSettings.Protocol.HTTP1);
    private final StalledClients clients = new StalledClients(List.of(Runnable::run), 0);
    private final List<Response> responses = new ArrayList<>();

    private static Upstream upstream(UpstreamSettings.Protocol protocol) {
        return new Upstream(
                "app",
                List.of(),
                RoundRobin::new,
                UpstreamSettings.builder().protocol(protocol).build());
    }

    private final class Response extends StalledPeers.Holder {
        private final Upstream from;
        private final String client;
        private boolean isCut;

        Response(Upstream from, String client) {
            this.from = from;
            this.client = client;
            responses.add(this);
            stall();
        }

        @Override
        protected long held() {
            return 0;
        }

        @Override
        protected long heldHeap() {
            return 0;
        }

        @Override
        protected Object culprit() {
            return client;
        }

        @Override
        protected Object upstream() {
            return from;
        }

        @Override
        protected void cut() {
            isCut = true;
        }
    }

    @AfterEach
    void forget() {
        responses.forEach(StalledPeers.Holder::resume);
    }

    private void stall(Upstream from, String client, int count) {
        for (int i = 0; i < count; i++) {
            new Response(from, client);
        }
    }

    private List<String> cut() {
        return responses.stream()
                .filter(each -> each.isCut)
                .map(each -> each.client)
                .toList();
    }

    private void review(Upstream of, int active, int pending) {
        clients.review(Map.of(of, new PoolCounts(0, active, 0, pending)));
    }

    @Test
    void whileOthersWaitOneClientKeepsHalf() {
        stall(upstream, "greedy", 7);
        stall(upstream, "modest", 3);
        review(upstream, 10, 1);
        assertThat(cut()).as("it may be over in a moment").isEmpty();
        review(upstream, 10, 1);
        assertThat(cut()).containsExactly("greedy", "greedy");
        review(upstream, 10, 1);
        assertThat(cut()).hasSize(2);
    }

    @Test
    void whileNobodyWaitsOneClientMayHaveAll() {
        stall(upstream, "greedy", 10);
        review(upstream, 10, 1);
        review(upstream, 10, 0);
        review(upstream, 10, 1);
        assertThat(cut()).isEmpty();
    }

    @Test
    void streamsThatShareConnectionsAreLeft() {
        Upstream multiplexed = upstream(UpstreamSettings.Protocol.H2C);
        stall(multiplexed, "greedy", 10);
        review(multiplexed, 1, 1);
        review(multiplexed, 1, 1);
        stall(upstream, "greedy", 10);
        review(upstream, 1, 1);
        review(upstream, 1, 1);
        assertThat(cut()).isEmpty();
    }
}
