package dev.gateway.connect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.ConnectConfig.Proxy.Kind;
import dev.gateway.upstream.dial.ParentProxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ParentRulesTest {
    private static final ParentProxy FIRST = new ParentProxy(Kind.HTTP, "first.example", 3128, null, null);
    private static final ParentProxy SECOND = new ParentProxy(Kind.SOCKS5, "second.example", 1, null, null);

    private final OwnListeners own = new OwnListeners(new LocalAddresses(Set::of, () -> 0, Runnable::run));
    private final ParentRules rules = new ParentRules(
            List.of(
                    rule(null, "direct.inner.example", "10.0.0.0/8"),
                    rule(FIRST, ".inner.example", "2001:db8::/32"),
                    rule(SECOND, "*"),
                    rule(FIRST, "other.example")),
            own);

    private static ParentRules.Rule rule(@Nullable ParentProxy proxy, String... hosts) {
        return new ParentRules.Rule(HostRules.of(Rules.list("hosts", hosts)), proxy);
    }

    @ParameterizedTest
    @CsvSource({
        "direct.inner.example,",
        "10.1.2.3,",
        "a.inner.example, http://first.example:3128",
        "A.Inner.Example, http://first.example:3128",
        "2001:db8::1, http://first.example:3128",
        "2001:db9::1, socks5://second.example:1",
        "192.0.2.1, socks5://second.example:1",
        "other.example, socks5://second.example:1",
    })
    void theFirstRuleThatMatchesSaysThroughWhichProxy(String host, @Nullable String proxy) {
        ParentProxy found = rules.parentOf(host, 443);
        assertThat(found == null ? null : found.toString()).isEqualTo(proxy);
    }

    @Test
    void whatNoRuleMatchesIsReachedDirectly() {
        assertThat(new ParentRules(List.of(rule(FIRST, "a.example")), own).parentOf("b.example", 443))
                .isNull();
        assertThat(new ParentRules(List.of(), own).parentOf("b.example", 443)).isNull();
    }

    @Test
    void eachProxyIsListedOnce() {
        assertThat(rules.all()).containsExactly(FIRST, SECOND);
    }

    @Test
    void aProxyMayBeAnywhereButWhereThisGatewayListens() throws UnknownHostException {
        own.set(List.of(new InetSocketAddress("192.0.2.1", 3128)));
        InetAddress here = InetAddress.getByName("192.0.2.1");
        assertThat(rules.addresses().refuse("proxy.example", here, 3128)).isEqualTo("192.0.2.1 is this gateway itself");
        assertThat(rules.addresses().refuse("proxy.example", InetAddress.getByName("64:ff9b::c000:201"), 3128))
                .endsWith(" is this gateway itself");
        assertThat(rules.addresses().refuse("proxy.example", here, 3129)).isNull();
        assertThat(rules.addresses().refuse("proxy.example", InetAddress.getByName("127.0.0.1"), 3128))
                .isNull();
    }
}
