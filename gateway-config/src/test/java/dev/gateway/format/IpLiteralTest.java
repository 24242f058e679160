package dev.gateway.format;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lines of a configuration are read by this alone; what clients send has been looked at before. */
class IpLiteralTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "12345::",
                "::12345",
                "::1::2",
                "1::2::3",
                ":::",
                ":1::",
                "1:2:3:4:5:6:7:8:",
                "1:2:3:4:5:6:7:1.2.3.4",
                "::1.2.3.4:5",
                "::1.2.3.0004",
                "::g",
                "::\uff11",
                "fe80::1%1"
            })
    void whatOthersMightReadDifferentlyIsNoIpv6Address(String text) {
        assertThat(IpLiteral.parse6(text)).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "1.2.3", "1.2.3.4.", ".1.2.3.4", "1.2.3.4.5", "1..2.3", "0001.2.3.4", "1.2.3.04", "1.2.3.256"
            })
    void norIsItAnIpv4Address(String text) {
        assertThat(IpLiteral.parse4(text)).isNull();
    }
}
