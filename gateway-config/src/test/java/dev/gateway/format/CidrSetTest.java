package dev.gateway.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class CidrSetTest {
    private static CidrSet set(String... blocks) {
        return CidrSet.of(Arrays.stream(blocks)
                .map(block -> Objects.requireNonNull(Cidr.parse(block), block))
                .toList());
    }

    private static InetAddress ip(String literal) throws UnknownHostException {
        return InetAddress.getByName(literal);
    }

    @Test
    void anAddressIsHeldByTheBlockThatCoversIt() throws Exception {
        CidrSet set = set("10.0.0.0/8", "192.168.7.0/24", "2001:db8::/32", "127.0.0.1", "::1");

        assertThat(set.contains(ip("10.0.0.0"))).isTrue();
        assertThat(set.contains(ip("10.255.255.255"))).isTrue();
        assertThat(set.contains(ip("9.255.255.255"))).isFalse();
        assertThat(set.contains(ip("11.0.0.0"))).isFalse();
        assertThat(set.contains(ip("192.168.7.200"))).isTrue();
        assertThat(set.contains(ip("192.168.8.0"))).isFalse();
        assertThat(set.contains(ip("127.0.0.1"))).isTrue();
        assertThat(set.contains(ip("127.0.0.2"))).isFalse();
        assertThat(set.contains(ip("2001:db8:ffff::1"))).isTrue();
        assertThat(set.contains(ip("2001:db9::1"))).isFalse();
        assertThat(set.contains(ip("::1"))).isTrue();
        assertThat(set.contains(ip("::2"))).isFalse();
        assertThat(set.contains(ip("ffff::"))).isFalse();
    }

    @Test
    void blocksMayNestAndRepeat() throws Exception {
        CidrSet set = set("10.1.2.0/24", "10.0.0.0/8", "10.0.0.0/8", "10.1.2.3");

        assertThat(set.contains(ip("10.1.3.1"))).isTrue();
        assertThat(set.contains(ip("10.200.0.1"))).isTrue();
        assertThat(set.contains(ip("12.0.0.1"))).isFalse();
    }

    @Test
    void aBlockIsHeldThoughASmallerOneThatBeginsAlikeComesBefore() throws Exception {
        CidrSet set = set("10.0.0.0/16", "10.0.0.0/8", "2001:db8::", "2001:db8::/64", "2001:db8::/32");

        assertThat(set.contains(ip("10.5.0.1"))).isTrue();
        assertThat(set.contains(ip("2001:db8:5::1"))).isTrue();
    }

    @Test
    void aBlockOfIpv6HoldsNoIpv4Address() throws Exception {
        CidrSet set = set("::/0", "10.0.0.0/8");

        assertThat(set.contains(ip("203.0.113.9"))).isFalse();
        assertThat(set.contains(ip("10.0.0.1"))).isTrue();
        assertThat(set.contains(ip("2001:db8::1"))).isTrue();
        assertThat(Objects.requireNonNull(Cidr.parse("::/0")).contains(ip("203.0.113.9")))
                .isFalse();
    }

    @Test
    void aBlockOfEverythingHoldsEveryAddressOfItsFamily() throws Exception {
        assertThat(set("0.0.0.0/0").contains(ip("203.0.113.9"))).isTrue();
        assertThat(set("0.0.0.0/0").contains(ip("2001:db8::1"))).isFalse();
        assertThat(set("::/0").contains(ip("2001:db8::1"))).isTrue();
        assertThat(CidrSet.EMPTY.contains(ip("127.0.0.1"))).isFalse();
    }
}
