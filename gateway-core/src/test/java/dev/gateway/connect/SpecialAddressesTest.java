package dev.gateway.connect;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A tunnel to an IPv6 address may lead to an IPv4 address, so that is what is judged, too. */
class SpecialAddressesTest {
    private static Inet6Address mapped(String ipv4) throws UnknownHostException {
        byte[] bytes = new byte[16];
        bytes[10] = (byte) 0xff;
        bytes[11] = (byte) 0xff;
        System.arraycopy(InetAddress.getByName(ipv4).getAddress(), 0, bytes, 12, 4);
        return Inet6Address.getByAddress(null, bytes, -1);
    }

    private static List<String> inside(InetAddress address) {
        return SpecialAddresses.embedded(address).stream()
                .map(InetAddress::getHostAddress)
                .toList();
    }

    @ParameterizedTest
    @CsvSource({
        "::ffff:0:c000:201, 192.0.2.1",
        "::c000:201, 192.0.2.1",
        "::2, 0.0.0.2",
        "::1,",
        "::,",
        "::fffe:c000:201,",
        "::fffe:0:c000:201,",
        "1::ffff:0:c000:201,",
        "1::c000:201,",
        "64:ff9b::c000:201, 192.0.2.1",
        "64:ff9b::1:c000:201,",
        "64:ff9b:1::c000:201,",
        "2002:c000:201::1, 192.0.2.1",
        "2003:c000:201::1,",
        "2001:0:c000:201::39cc:9bf5, 192.0.2.1 198.51.100.10",
        "2001:1:c000:201::39cc:9bf5,",
        "2001:db8::5efe:c000:201, 192.0.2.1",
        "2001:db8::200:5efe:c000:201, 192.0.2.1",
        "2001:db8::100:5efe:c000:201,",
        "2002:c000:201::5efe:c633:640a, 192.0.2.1 198.51.100.10",
        "2001:db8::1,",
        "192.0.2.1,",
    })
    void theIpv4AddressesThatAnIpv6AddressLeadsToAreKnown(String address, @Nullable String ipv4)
            throws UnknownHostException {
        assertThat(inside(InetAddress.getByName(address)))
                .isEqualTo(ipv4 == null ? List.of() : Arrays.asList(ipv4.split(" ")));
    }

    @Test
    void aMappedAddressIsAsPublicAsWhatIsInside() throws UnknownHostException {
        assertThat(inside(mapped("192.0.2.1"))).containsExactly("192.0.2.1");
        assertThat(SpecialAddresses.kind(mapped("8.8.8.8"))).isNull();
        assertThat(SpecialAddresses.kind(mapped("10.0.0.1"))).isEqualTo("private, as 10.0.0.1");
    }

    @ParameterizedTest
    @CsvSource({
        "64:ff9b::808:808,",
        "64:ff9b::1:808:808, not global",
        "::ffff:0:808:808, not global",
        "::fffe:808:808, not global",
        "1::ffff:808:808, not global",
        "::808:808, IPv4-compatible",
        "2600::1,",
        "4000::1, not global",
        "1fff::1, not global",
    })
    void whatIsInsideDoesNotMakeAnAddressPublic(String address, @Nullable String kind) throws UnknownHostException {
        assertThat(SpecialAddresses.kind(InetAddress.getByName(address))).isEqualTo(kind);
    }
}
