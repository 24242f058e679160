package dev.gateway.exchange.tunnel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.observe.ExchangeRecord.Kind;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The list of open tunnels that operators see. */
class OpenTunnelsTest {
    private final OpenTunnels tunnels = new OpenTunnels();

    private final class Tunnel implements OpenTunnels.Member {
        private final long number = tunnels.add(this);

        @Override
        public long number() {
            return number;
        }

        @Override
        public OpenTunnel view(long now) {
            return new OpenTunnel(
                    number,
                    Kind.TUNNEL,
                    new OpenTunnel.Client("", "", "", "", ""),
                    new OpenTunnel.Destination("", "", "", ""),
                    new OpenTunnel.Traffic(now, 0, 0, 0));
        }
    }

    private List<Long> listed(long after, int limit) {
        return tunnels.list(after, limit, 7).stream().map(OpenTunnel::number).toList();
    }

    @Test
    void tunnelsAreListedInTheOrderInWhichTheyWereOpened() {
        Tunnel first = new Tunnel();
        Tunnel second = new Tunnel();
        Tunnel third = new Tunnel();
        assertThat(listed(0, 10)).containsExactly(first.number, second.number, third.number);
        assertThat(listed(0, 2)).containsExactly(first.number, second.number);
        assertThat(listed(first.number, 1)).containsExactly(second.number);
        assertThat(tunnels.list(0, 1, 7).get(0).traffic().ageNanos()).isEqualTo(7);
    }

    @Test
    void oneThatHasEndedIsListedNoMoreAndItsNumberNotUsedAgain() {
        Tunnel first = new Tunnel();
        tunnels.remove(first);
        Tunnel second = new Tunnel();
        assertThat(listed(0, 10)).containsExactly(second.number);
        assertThat(second.number).isGreaterThan(first.number);
    }
}
