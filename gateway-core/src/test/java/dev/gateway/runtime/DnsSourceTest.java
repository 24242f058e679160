package dev.gateway.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which hosts the addresses of a name stand for. */
class DnsSourceTest {
    private static List<InetAddress> addresses(String... literals) throws UnknownHostException {
        List<InetAddress> addresses = new ArrayList<>();
        for (String literal : literals) {
            addresses.add(InetAddress.getByName(literal));
        }
        return addresses;
    }

    @Test
    void aMachineWithBothFamiliesCountsOnce() throws Exception {
        assertThat(DnsSource.hosts(addresses("2001:db8::1", "2001:db8::2"), addresses("192.0.2.2", "192.0.2.1"), false))
                .containsExactly("192.0.2.1", "192.0.2.2");
        assertThat(DnsSource.hosts(addresses("2001:db8::2", "2001:db8::1"), List.of(), false))
                .containsExactly("2001:db8::1", "2001:db8::2");
    }

    @Test
    void aMachineWithoutIpv4UsesIpv6() throws Exception {
        List<InetAddress> ipv4 = addresses("192.0.2.2", "192.0.2.1");
        assertThat(DnsSource.hosts(addresses("2001:db8::1"), ipv4, true)).containsExactly("2001:db8::1");
        assertThat(DnsSource.hosts(List.of(), ipv4, true)).containsExactly("192.0.2.1", "192.0.2.2");
    }

    @Test
    void oneAddressOfEachFamilyIsTheNameItself() throws Exception {
        assertThat(DnsSource.hosts(addresses("::1"), addresses("127.0.0.1"), false))
                .isEmpty();
    }

    @Test
    void noAddressIsNoAnswer() {
        assertThat(DnsSource.hosts(List.of(), List.of(), false)).isNull();
    }
}
