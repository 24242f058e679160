package dev.gateway.upstream.dial;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.ConnectConfig.Proxy.Kind;
import dev.gateway.format.AccountFile.NameAndPassword;
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
        ParentProxy proxy = new ParentProxy(kind, host, port, new NameAndPassword("ann", "secret"), null);
        assertThat(proxy).hasToString(url);
    }

    @ParameterizedTest
    @CsvSource({"HTTP, true", "HTTPS, true", "SOCKS5, false"})
    void onlyAProxyOfHttpTakesRequestsForOthers(Kind kind, boolean takes) {
        assertThat(new ParentProxy(kind, "proxy.example", 1, null, null).isHttp())
                .isEqualTo(takes);
    }
}
