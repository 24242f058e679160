package dev.gateway.upstream.dial;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.config.upstream.UpstreamConfig.SendProxyProtocol;
import dev.gateway.config.upstream.UpstreamConfig.Tls;
import dev.gateway.config.upstream.UpstreamConfig.TlsOffer;
import dev.gateway.config.value.Position;
import org.junit.jupiter.api.Test;

class UpstreamSettingsTest {
    @Test
    void whatIsNotSaidHasNoLimit() {
        assertThat(UpstreamSettings.builder().build())
                .isEqualTo(new UpstreamSettings(Protocol.AUTO, null, 0, 0, 0, 0, 0, 0, 0, 0, 0, DialSettings.DIRECT));
    }

    @Test
    void whatIsSaidIsKept() {
        Tls tls = new Tls(Position.NOWHERE, true, null, "app.example", null, null, TlsOffer.DEFAULT);
        DialSettings dialSettings = new DialSettings(null, ParentProxies.NONE, SendProxyProtocol.V2);
        UpstreamSettings settings = UpstreamSettings.builder()
                .protocol(Protocol.H2)
                .tls(tls)
                .maxConnections(1)
                .maxPendingRequests(2)
                .maxRequests(3)
                .connectMillis(4)
                .tlsHandshakeMillis(5)
                .poolAcquireMillis(6)
                .responseHeadersMillis(7)
                .idleMillis(8)
                .maxLifetimeMillis(9)
                .dialSettings(dialSettings)
                .build();
        assertThat(settings).isEqualTo(new UpstreamSettings(Protocol.H2, tls, 1, 2, 3, 4, 5, 6, 7, 8, 9, dialSettings));
    }
}
