package dev.gateway.upstream.dial;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.upstream.dial.ParentProxy.Credentials;
import dev.gateway.upstream.dial.ParentProxy.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ParentProxyTest {
    @ParameterizedTest
    @CsvSource({
        "HTTP, proxy.example, 3128, http://proxy.example:3128",
        "HTTPS, 192.0.2.1, 443, https://192.0.2.1:443",
        "SOCKS5, 2001:db8::1, 1080, socks5://[2001:db8::1]:1080",
        "HTTP, ::1, 3128, http://[::1]:3128",
    })
    void itIsShownAsItsUrlWithoutAPassword(Kind kind, String host, int port, String url) {
        ParentProxy proxy = new ParentProxy(kind, host, port, new Credentials("ann", "secret"), null);
        assertThat(proxy).hasToString(url);
    }

    @ParameterizedTest
    @CsvSource({"HTTP, true", "HTTPS, true", "SOCKS5, false"})
    void onlyAProxyOfHttpTakesRequestsForOthers(Kind kind, boolean takes) {
        assertThat(new ParentProxy(kind, "proxy.example", 1, null, null).isHttp())
                .isEqualTo(takes);
    }

    @Test
    void credentialsAreWrittenAsHttpHasThem() {
        assertThat(new Credentials("Aladdin", "open sesame").basic())
                .isEqualTo("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="); // the example of RFC 7617, section 2
        assertThat(new Credentials("test", "123\u00a3").basic())
                .isEqualTo("Basic dGVzdDoxMjPCow=="); // that of section 2.1: UTF-8
    }

    @Test
    void credentialsAreNeverPrinted() {
        assertThat(new Credentials("ann", "secret").toString())
                .doesNotContain("ann")
                .doesNotContain("secret");
    }
}
