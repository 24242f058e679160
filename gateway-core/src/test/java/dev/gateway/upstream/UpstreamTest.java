package dev.gateway.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class UpstreamTest {
    private static final UpstreamSettings SETTINGS =
            new UpstreamSettings(UpstreamSettings.Protocol.AUTO, null, 0, 0, 0, 0, 0, 0, 0, 0, 0, Dialling.DIRECT);

    @Test
    void anEndpointIsUnreachedUntilAConnectionCouldBeMadeAgain() {
        Endpoint one = new Endpoint(0, "192.0.2.1", 80, 1);
        Endpoint other = new Endpoint(1, "192.0.2.2", 80, 1);
        List<Endpoint> both = List.of(one, other);
        Upstream upstream = new Upstream("app", both, new RoundRobin(both), SETTINGS);
        assertThat(both).noneMatch(upstream::isUnreached);
        upstream.onTried(one, false);
        upstream.onTried(one, false);
        upstream.onTried(new Endpoint(NamedByRequest.INDEX, "192.0.2.3", 80, 1), false);
        assertThat(both).filteredOn(upstream::isUnreached).containsExactly(one);
        upstream.onTried(one, true);
        assertThat(both).noneMatch(upstream::isUnreached);
    }
}
