package dev.gateway.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.AsciiString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AuthorityTest {
    @ParameterizedTest
    @CsvSource({
        "example.com,example.com,-1",
        "example.com:8080,example.com,8080",
        "EXAMPLE.com.:1,EXAMPLE.com.,1",
        "a,a,-1",
        "a:,a,-1",
        "my_host-1~x:65535,my_host-1~x,65535",
        "10.0.0.1:80,10.0.0.1,80",
        "12345,12345,-1",
        "123456:00080,123456,80",
        "[::1],[::1],-1",
        "[2001:db8::1]:443,[2001:db8::1],443",
        "[::ffff:1.2.3.4]:1,[::ffff:1.2.3.4],1"
    })
    void hostAndPortAreTakenApart(String text, String host, int port) {
        AsciiString padded = new AsciiString("//" + text + "/").subSequence(2, 2 + text.length(), false);

        assertThat(Authority.parse(padded)).isEqualTo(new Authority(new AsciiString(host), port));
        assertThat(Authority.port(padded, -1)).isEqualTo(port);
        assertThat(Authority.hostLength(padded)).isEqualTo(host.length());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ":80",
                "a:0",
                "a:65536",
                "a:100000",
                "a:000080",
                "a:8o",
                "a:-1",
                "a:+1",
                "a:1:2",
                "a b",
                "user@a",
                "user:pw@a",
                "a/b",
                "a\\b",
                "a?b",
                "a#b",
                "a,b",
                "a%41",
                "é",
                "a\u0000",
                "a\t",
                "[::1",
                "::1",
                "[::1]x",
                "[::1]:",
                "[]",
                "[1.2.3.4]",
                "[::1%eth0]",
                "[gg::1]",
                ".a",
                ".",
                "..",
                "a..",
                "a..:80",
                "a..b",
                "a...b.c",
                "127.0.0.1..",
                "a\"",
                "a'",
                "a;b",
                "[::1]]:80"
            })
    void whatOthersMightReadDifferentlyIsRefused(String text) {
        boolean emptyPort = text.equals("[::1]:");
        assertThat(Authority.isValid(new AsciiString(text))).isEqualTo(emptyPort);
    }

    @Test
    void aHostLongerThanDnsAllowsIsRefused() {
        assertThat(Authority.isValid(new AsciiString("a".repeat(255)))).isTrue();
        assertThat(Authority.isValid(new AsciiString("a".repeat(256)))).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "a.com,A.COM,true",
        "a.com:80,a.com:81,true",
        "a.com.,a.com,true",
        "a.com,b.com,false",
        "a.com,a.co,false",
        "[::1]:1,[::1],true"
    })
    void hostsCompareWithoutCasePortOrTrailingDot(String a, String b, boolean same) {
        assertThat(Authority.sameHost(new AsciiString(a), new AsciiString(b))).isEqualTo(same);
        assertThat(Authority.sameHost(new AsciiString(b), new AsciiString(a))).isEqualTo(same);
    }
}
