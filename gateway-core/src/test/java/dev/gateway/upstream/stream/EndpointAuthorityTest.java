package dev.gateway.upstream.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.upstream.UpstreamConfig.Tls;
import dev.gateway.config.value.Position;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.dial.UpstreamSettings;
import dev.gateway.upstream.dial.UpstreamValues;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EndpointAuthorityTest {
    private static final Tls TLS = Tls.verified(Position.NOWHERE, null);

    @ParameterizedTest
    @CsvSource({
        "app.example, 80, false, app.example",
        "app.example, 443, false, app.example:443",
        "app.example, 8080, false, app.example:8080",
        "app.example, 443, true, app.example",
        "app.example, 80, true, app.example:80",
        "192.0.2.1, 80, false, 192.0.2.1",
        "192.0.2.1, 81, false, 192.0.2.1:81",
        "::1, 80, false, [::1]",
        "2001:db8::1, 9000, false, [2001:db8::1]:9000",
        "2001:db8::1, 443, true, [2001:db8::1]",
        "unix:/run/app.sock, 0, false, localhost",
        "unix:/run/app.sock, 0, true, localhost",
    })
    void anEndpointIsToldItsNameWithoutThePortThatGoesWithoutSaying(
            String host, int port, boolean tls, String authority) {
        UpstreamSettings settings =
                UpstreamValues.builder().tls(tls ? TLS : null).build();
        assertThat(EndpointAuthority.of(new Endpoint(0, host, port, 1), settings)
                        .toString())
                .isEqualTo(authority);
    }
}
