package dev.gateway.connect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.ConnectConfig.Sni;
import dev.gateway.format.PortRange;
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
                .contains("localhost", "127.0.0.0/8", "10.0.0.0/8", "168.63.129.16", "local", "a.example")
                .doesNotContain("only.example");
    }

    /** Python's httpx does no request at all if there is one. */
    @Test
    void noProxyHasNoBlocksOfIpv6() {
        List<HostRule> deny = Rules.deny("2001:db8::/32", "2001:db8::7", "192.0.2.7/32", "2001:db8::8/128");
        Policies policies = Rules.only(Rules.policy(Rules.allow("*"), deny));
        assertThat(config(policies, false).noProxy()).isEqualTo("2001:db8::7,192.0.2.7,2001:db8::8");
        assertThat(config(policies, true).noProxy().split(","))
                .allMatch(line -> !line.contains(":") || !line.contains("/"));
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

    @Test
    void theScriptHasThePortsAndListsOfEachPolicy() {
        ConnectPolicy everybody = new ConnectPolicy(new ConnectPolicy.Settings(
                "egress",
                List.of(new PortRange(443, 443), new PortRange(8000, 8010)),
                Rules.allow("a.example", "192.0.2.0/24", ".b.example", "2001:db8::/32"),
                Rules.deny("x.b.example"),
                Sni.OFF,
                0));
        Policies policies = new Policies(
                everybody, List.of(Rules.forIdentity("ci", Rules.policy(Rules.allow("*"), Rules.deny("10.0.0.0/8")))));

        assertThat(config(policies, false, "10.1.2.3").script(new ProxyAutoConfig.Proxy(false, "proxy.example", 1)))
                .contains(
                        """
                        var policies = [
                          {ports: [[443, 443], [8000, 8010]],
                           allow: {names: ["a.example", ".b.example"], blocks: [[[49152,512],24], \
                        [[8193,3512,0,0,0,0,0,0],32]]},
                           deny: {names: ["x.b.example"], blocks: []}},
                          {ports: [[443, 443]],
                           allow: {names: ["*"], blocks: []},
                           deny: {names: [], blocks: [[[2560,0],8]]}}
                        ];
                        var trusted = {names: [], blocks: [[[2561,515],32]]};
                        var local = {names: [], blocks: []};
                        var denyPrivate = false;
                        """);
    }

    @Test
    void whatIsNotPublicIsLocalForTheScript() {
        Policies policies = Rules.only(Rules.policy(Rules.allow("*"), List.of()));
        assertThat(config(policies, true).script(new ProxyAutoConfig.Proxy(false, "proxy.example", 1)))
                .contains("var local = {names: [\"localhost\", \".localhost\", \".local\"], blocks: [[[0,0],8], ")
                .contains("[[49320,0],16]")
                .contains("\nvar denyPrivate = true;\n");
    }

    @Test
    void onlyWhatIsInPartTrustedIsLeftOutOfNoProxy() {
        Policies policies = Rules.only(Rules.policy(Rules.allow("*"), List.of()));
        assertThat(config(policies, true, "a.example", "192.168.0.0/16")
                        .noProxy()
                        .split(","))
                .contains("10.0.0.0/8")
                .doesNotContain("192.168.0.0/16");
    }
}
