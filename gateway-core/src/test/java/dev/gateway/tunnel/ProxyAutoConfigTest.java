package dev.gateway.tunnel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What the script does when it is run is tested with the other tools, where there is something that runs it. */
class ProxyAutoConfigTest {
    private static ProxyAutoConfig config(Policies policies, boolean denyPrivate, String... trusted) {
        return new ProxyAutoConfig(
                policies,
                new AddressRules.Settings(
                        "egress", denyPrivate, Rules.list("trusted", trusted), List.of(), List.of(), false));
    }

    @Test
    void theProxyIsNamedAsClientsReachIt() {
        Policies policies = Rules.only(Rules.policy(Rules.allow("*"), List.of()));

        assertThat(config(policies, true).script(new ProxyAutoConfig.Proxy(false, "proxy.example", 3128)))
                .contains("\nvar proxy = \"PROXY proxy.example:3128\";\n");
        assertThat(config(policies, true).script(new ProxyAutoConfig.Proxy(true, "2001:db8::1", 443)))
                .contains("\nvar proxy = \"HTTPS [2001:db8::1]:443\";\n");
    }

    @Test
    void nothingThatComesFromOutsideCanEndAString() {
        Policies policies = Rules.only(Rules.policy(Rules.allow("*"), List.of()));

        assertThat(config(policies, true).script(new ProxyAutoConfig.Proxy(false, "\";x</script>\\", 1)))
                .contains("\nvar proxy = \"PROXY \\u0022;x\\u003c/script>\\u005c:1\";\n");
    }

    @Test
    void noProxyListsWhatWouldBeRefusedAnyway() {
        Policies policies = new Policies(
                Rules.policy(Rules.allow("*"), Rules.deny("a.example", ".b.example", "192.0.2.0/24", "only.example")),
                List.of(Rules.forIdentity(
                        "ci", Rules.policy(Rules.allow("*"), Rules.deny(".b.example", "a.example", "192.0.2.0/24")))));

        assertThat(config(policies, false).noProxy()).isEqualTo("a.example,b.example,.b.example,192.0.2.0/24");
        assertThat(config(policies, true).noProxy().split(","))
                .contains("localhost", "127.0.0.0/8", "10.0.0.0/8", "::/127", "fe80::/10", "local", "a.example")
                .doesNotContain("only.example");
    }

    @Test
    void whatIsTrustedIsNotKeptFromTheProxy() {
        Policies policies = Rules.only(Rules.policy(Rules.allow("*"), List.of()));

        assertThat(config(policies, true, "10.1.2.0/24").noProxy().split(","))
                .contains("172.16.0.0/12")
                .doesNotContain("10.0.0.0/8");
    }

    /** What a page of another site may run as its own script would else give it the lists. */
    @Test
    void nothingButFunctionsIsLeftForAPageThatRunsTheScript() {
        Policies policies = Rules.only(Rules.policy(Rules.allow("secret.example"), List.of()));
        String script = config(policies, true).script(new ProxyAutoConfig.Proxy(false, "proxy.example", 3128));

        assertThat(script.indexOf("secret.example"))
                .isBetween(script.indexOf("(function () {"), script.indexOf("})();"));
    }

    @Test
    void inAuditModeAllThatIsPublicIsSentHere() {
        Policies policies = Rules.only(Rules.policy(Rules.allow("a.example"), List.of()));
        ProxyAutoConfig audited = new ProxyAutoConfig(
                policies, new AddressRules.Settings("egress", true, List.of(), List.of(), List.of(), true));

        assertThat(audited.script(new ProxyAutoConfig.Proxy(false, "proxy.example", 3128)))
                .contains("var otherwise = proxy;");
        assertThat(config(policies, true).script(new ProxyAutoConfig.Proxy(false, "proxy.example", 3128)))
                .contains("var otherwise = \"DIRECT\";");
    }
}
