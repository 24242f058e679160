package dev.gateway.listener.limit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.stream.ClientNetwork;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ClientConnectionsTest {
    private final ClientConnections connections = new ClientConnections();

    private static ClientNetwork client(String address) throws UnknownHostException {
        return ClientNetwork.of(InetAddress.getByName(address));
    }

    @Test
    void eachClientHasALimitOfItsOwn() throws UnknownHostException {
        ClientNetwork first = client("192.0.2.1");
        assertThat(connections.tryAcquire(first, 2)).isTrue();
        assertThat(connections.tryAcquire(first, 2)).isTrue();
        assertThat(connections.tryAcquire(first, 2)).isFalse();
        assertThat(connections.tryAcquire(client("192.0.2.2"), 2)).isTrue();
        connections.release(first);
        assertThat(connections.tryAcquire(first, 2)).isTrue();
    }

    @Test
    void theAddressesOfAnIpv6NetworkAreOneClient() throws UnknownHostException {
        assertThat(connections.tryAcquire(client("2001:db8::1"), 1)).isTrue();
        assertThat(connections.tryAcquire(client("2001:db8::2"), 1)).isFalse();
        assertThat(connections.tryAcquire(client("2001:db8:0:1::1"), 1)).isTrue();
    }

    @Test
    void aLimitThatIsLoweredHoldsForWhoComesNext() throws UnknownHostException {
        ClientNetwork first = client("192.0.2.1");
        connections.tryAcquire(first, 5);
        connections.tryAcquire(first, 5);
        assertThat(connections.tryAcquire(first, 1)).isFalse();
        assertThat(connections.open(first)).isEqualTo(2);
    }

    /** Any order of opening and closing leaves no connection counted, and nothing held for clients that have left. */
    @Test
    void countsAreExactAndNothingIsLeft() throws UnknownHostException {
        Random random = new Random(27);
        List<ClientNetwork> open = new ArrayList<>();
        Map<ClientNetwork, Integer> expected = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            if (open.isEmpty() || random.nextInt(5) < 3) {
                ClientNetwork each = client("192.0.2." + random.nextInt(20));
                boolean room = expected.getOrDefault(each, 0) < 7;
                assertThat(connections.tryAcquire(each, 7)).isEqualTo(room);
                if (room) {
                    open.add(each);
                    expected.merge(each, 1, Integer::sum);
                }
            } else {
                ClientNetwork each = open.remove(random.nextInt(open.size()));
                connections.release(each);
                expected.merge(each, -1, Integer::sum);
            }
        }
        open.forEach(connections::release);
        assertThat(connections.clients()).isZero();
    }
}
