package dev.gateway.upstream.dial;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.upstream.UpstreamConfig.SendProxyProtocol;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a parent proxy is asked for is judged as far as it can be without resolving a name. */
class DialSettingsTest {
    private final List<String> asked = new ArrayList<>();
    private final DialSettings dialSettings = new DialSettings(
            new AddressPolicy() {
                @Override
                public @Nullable String refuse(String host, InetAddress address, int port) {
                    asked.add(host + " at " + address.getHostAddress() + " port " + port);
                    return port == 1 ? null : "refused";
                }

                @Override
                public @Nullable String refuseName(String name, int port) {
                    asked.add(name + " port " + port);
                    return port == 1 ? null : "refused by name";
                }
            },
            ParentProxies.NONE,
            SendProxyProtocol.NONE);

    @ParameterizedTest
    @CsvSource({
        "192.0.2.1, 192.0.2.1",
        "::1, 0:0:0:0:0:0:0:1",
        "2001:db8::7, 2001:db8:0:0:0:0:0:7",
    })
    void anAddressIsJudgedAsOne(String host, String address) {
        assertThat(dialSettings.refuseByParent(host, 443)).isEqualTo("refused");
        assertThat(dialSettings.refuseByParent(host, 1)).isNull();
        assertThat(asked).containsExactly(host + " at " + address + " port 443", host + " at " + address + " port 1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"app.example", "localhost", "192.0.2.1.example", "256.0.0.1"})
    void aNameIsJudgedByItself(String host) {
        assertThat(dialSettings.refuseByParent(host, 443)).isEqualTo("refused by name");
        assertThat(dialSettings.refuseByParent(host, 1)).isNull();
        assertThat(asked).containsExactly(host + " port 443", host + " port 1");
    }

    @Test
    void withoutAPolicyNothingIsRefused() {
        assertThat(DialSettings.DIRECT.refuseByParent("localhost", 443)).isNull();
        assertThat(DialSettings.DIRECT.refuseByParent("127.0.0.1", 443)).isNull();
    }

    @Test
    void withoutParentsEverythingIsDialedHere() {
        assertThat(ParentProxies.NONE.parentOf("app.example", 443)).isNull();
        assertThat(ParentProxies.NONE.all()).isEmpty();
        assertThat(ParentProxies.NONE.addresses()).isNull();
    }
}
