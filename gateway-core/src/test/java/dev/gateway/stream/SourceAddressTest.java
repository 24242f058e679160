package dev.gateway.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SourceAddressTest {
    private static SourceAddress address(String ip, int port) throws Exception {
        return new SourceAddress(InetAddress.getByName(ip), port);
    }

    @ParameterizedTest
    @CsvSource({
        "192.0.2.1, 80, 192.0.2.1, 192.0.2.1:80",
        "192.0.2.1, 0, 192.0.2.1, 192.0.2.1",
        "2001:DB8:0:0:0:0:0:1, 80, 2001:db8::1, [2001:db8::1]:80",
        "2001:db8::1, 0, 2001:db8::1, 2001:db8::1",
        "::ffff:192.0.2.1, 0, 192.0.2.1, 192.0.2.1"
    })
    void anAddressIsWrittenInItsShortestForm(String ip, int port, String text, String withPort) throws Exception {
        assertThat(address(ip, port).text().toString()).isEqualTo(text);
        assertThat(address(ip, port)).hasToString(withPort);
        assertThat(SourceAddress.of(new InetSocketAddress(ip, port))).isEqualTo(address(ip, port));
    }

    @ParameterizedTest
    @CsvSource({
        "192.0.2.1, 192.0.2.1",
        "192.0.2.1:80, 192.0.2.1:80",
        "192.0.2.1:_hidden, 192.0.2.1",
        "192.0.2.1:99999, 192.0.2.1",
        "2001:DB8::1, 2001:db8::1",
        "[2001:db8::1], 2001:db8::1",
        "[2001:db8::1]:80, [2001:db8::1]:80",
        "::ffff:192.0.2.1, 192.0.2.1",
        "unknown,",
        "_hidden,",
        "'',",
        "[2001:db8::1,",
        "192.0.2,",
        "192.0.2.256,",
        "a.example,",
        "unix,"
    })
    void addressesAreReadAsProxiesWriteThem(String written, String read) {
        SourceAddress address = SourceAddress.parse(written);
        assertThat(address == null ? null : address.toString()).isEqualTo(read);
    }

    @Test
    void aUnixDomainSocketHasNoAddress() {
        assertThat(SourceAddress.of(UnixDomainSocketAddress.of("/run/x"))).isEqualTo(SourceAddress.UNIX);
        assertThat(SourceAddress.of(null)).isEqualTo(SourceAddress.UNIX).hasToString("unix");
        assertThat(SourceAddress.UNIX.socketAddress()).isNull();
    }

    @Test
    void aNetworkOfIpv6CountsAsOneClientAndSoDoesThisMachine() throws Exception {
        assertThat(address("2001:db8::1", 1).network())
                .isEqualTo(address("2001:db8::ffff:1", 2).network())
                .isNotEqualTo(address("2001:db8:0:1::1", 1).network())
                .hasToString("2001:db8::/64");
        assertThat(address("127.0.0.2", 1).network())
                .isEqualTo(address("::1", 1).network())
                .isEqualTo(SourceAddress.UNIX.network());
        assertThat(address("192.0.2.1", 1).network())
                .isEqualTo(address("192.0.2.1", 2).network())
                .isNotEqualTo(address("192.0.2.2", 1).network())
                .hasToString("192.0.2.1");
    }
}
