package dev.gateway.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.ConnectConfig;
import dev.gateway.config.ConnectConfig.Policy;
import dev.gateway.config.ConnectConfig.Proxy;
import dev.gateway.config.ConnectConfig.Sni;
import dev.gateway.config.Destination;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.LoadResult;
import dev.gateway.config.LoadResult.Valid;
import dev.gateway.config.listener.ListenerConfig.Protocol;
import dev.gateway.config.route.RuleConfig;
import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.upstream.UpstreamConfig.SendProxyProtocol;
import dev.gateway.format.PortRange;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TunnelConfigTest {
    private static final Path TEST_FILES = Path.of("src/test/resources").toAbsolutePath();
    private static final String EGRESS = "listeners: [{name: egress, port: 3128, protocol: HTTP}]\n";

    /** Every key of a connect entry, none at its default. */
    private static final String EVERYTHING =
            """
            listeners:
              - name: egress
                port: 3128
                protocol: HTTPS
                tls:
                  certificateRefs: [{certFile: tls/server.crt, keyFile: tls/server.key}]
                  clientAuth: optional
                  caFile: tls/server.crt
            connect:
              - name: out
                parentRefs: [{name: egress}]
                allowedPorts: [443, 8000-8999]
                allow: [api.example.com, .Example.org, 192.0.2.0/24, "2001:db8::/32", 10.1.2.3]
                deny: [bad.example.org]
                denyPrivate: true
                trustedDestinations: [10.1.2.3, registry.internal.example]
                sni: log
                audit: true
                auth:
                  realm: the way out
                  groupsFile: secrets/groups
                  basic: {usersFile: secrets/users}
                  bearer: {tokensFile: secrets/tokens}
                  clientCertificate: true
                policies:
                  - identities: [ci, "Acme, Inc."]
                    groups: [builders]
                    allowedPorts: [22]
                    sni: mustMatch
                    limits: {maxTunnels: 10}
                  - {groups: [admins], allow: ["*"], deny: []}
                limits: {maxTunnels: 50, maxTunnelsPerClient: 20, maxTunnelsPerIdentity: 30}
                parents:
                  - {hosts: [.corp.example], proxy: DIRECT}
                  - {hosts: [.example.org], proxy: "socks5://[2001:db8::1]:1080", credentialsFile: secrets/parent}
                  - {hosts: [.example.net], proxy: "http://proxy.example:3128/"}
                  - hosts: ["*"]
                    proxy: "https://proxy.example:3129"
                    tls: {caFile: tls/server.crt, serverName: inner.proxy.example}
                timeouts: {connect: 5s, idle: 1m, halfClosed: 5s, max: 1h}
                pac: {path: /wpad.dat}
            """;

    @Test
    void everyKeyIsReadAndPrintedAsItWasMeant() {
        GatewayConfig config = valid(EVERYTHING);
        ConnectConfig out = config.connect().get(0);
        assertThat(out.rules().access().allowedPorts())
                .containsExactly(new PortRange(443, 443), new PortRange(8000, 8999));
        assertThat(texts(out.rules().access().allow()))
                .containsExactly(
                        "api.example.com", ".example.org", "192.0.2.0/24", "2001:db8:0:0:0:0:0:0/32", "10.1.2.3");
        assertThat(out.auth()).isNotNull();
        assertThat(out.parents().get(0).proxy()).isNull();
        Proxy socks = Objects.requireNonNull(out.parents().get(1).proxy());
        assertThat(socks.kind()).isEqualTo(Proxy.Kind.SOCKS5);
        assertThat(socks.host()).isEqualTo("2001:db8::1");
        Proxy https = Objects.requireNonNull(out.parents().get(3).proxy());
        assertThat(https.tls())
                .isNotNull()
                .extracting(UpstreamConfig.Tls::serverName)
                .isEqualTo("inner.proxy.example");
        assertThat(out.timeouts().connect()).isEqualTo(Duration.ofSeconds(5));
        assertThat(out.timeouts().tunnel())
                .isEqualTo(new TunnelTimeouts(Duration.ofMinutes(1), Duration.ofSeconds(5), Duration.ofHours(1)));

        String printed = ConfigPrinter.yaml(config);
        assertThat(ConfigPrinter.yaml(valid(printed))).isEqualTo(printed);
    }

    @Test
    void aPolicySaysWhatIsDifferentAndNothingElse() {
        List<Policy> policies = valid(EVERYTHING).connect().get(0).rules().policies();
        ConnectConfig.Access first = policies.get(0).access();
        assertThat(first.allowedPorts()).containsExactly(new PortRange(22, 22));
        assertThat(first.sni()).isEqualTo(Sni.MUST_MATCH);
        assertThat(texts(first.allow())).contains("api.example.com");
        assertThat(texts(first.deny())).containsExactly("bad.example.org");
        ConnectConfig.Access second = policies.get(1).access();
        assertThat(texts(second.allow())).containsExactly("*");
        assertThat(second.deny()).isEmpty();
        assertThat(second.sni()).isEqualTo(Sni.LOG);
        assertThat(second.allowedPorts()).hasSize(2);
    }

    @Test
    void whatIsNotWrittenIsSafe() {
        ConnectConfig entry = valid(EGRESS + "connect: [{parentRefs: [{name: egress}], allow: [a.example]}]\n")
                .connect()
                .get(0);
        assertThat(entry.name()).isEqualTo("connect-1");
        assertThat(entry.rules().access().allowedPorts()).containsExactly(new PortRange(443, 443));
        assertThat(entry.rules().addresses().denyPrivate()).isTrue();
        assertThat(entry.rules().audit()).isFalse();
        assertThat(entry.rules().access().sni()).isEqualTo(Sni.OFF);
        assertThat(entry.rules().limits().maxTunnels()).isEqualTo(10_000);
        assertThat(entry.timeouts().tunnel())
                .isEqualTo(new TunnelTimeouts(Duration.ofMinutes(10), Duration.ofMinutes(1), Duration.ofDays(1)));
        assertThat(entry.auth()).isNull();
        assertThat(entry.pac()).isNull();
    }

    @Test
    void nothingThatIsPrintedHoldsASecret() {
        GatewayConfig config = valid(EVERYTHING);
        assertThat(config.toString() + ConfigPrinter.yaml(config)).doesNotContain("hunter");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "proxy: \"http://user:hunter2@proxy.example:3128\"",
                "proxy: \"user:hunter2@proxy.example\"",
                "proxy: [\"http://user:hunter2@proxy.example:3128\"]",
                "proxy: \"ftp://user:hunter2@proxy.example:21/x\"",
                "hosts: [\"http://user:hunter2@proxy.example:3128\"]",
                "url: \"http://user:hunter2@proxy.example:3128\"",
            })
    void aPasswordThatStandsWhereItMustNotIsNotShown(String parent) {
        LoadResult result = result(EGRESS + "connect: [{parentRefs: [{name: egress}], allow: [a.example], parents: [{"
                + parent + "}]}]\n");
        assertThat(result).isInstanceOf(LoadResult.Invalid.class);
        assertThat(result.problems().toString()).doesNotContain("hunter2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"users-plain", "tokens-space", "parent-two-lines", "tokens-twice"})
    void aFileOfSecretsIsNotShown(String file) {
        for (String auth : List.of(
                "auth: {basic: {usersFile: secrets/" + file + "}}",
                "auth: {bearer: {tokensFile: secrets/" + file + "}}",
                "parents: [{hosts: ['*'], proxy: 'http://p.example:1', credentialsFile: secrets/" + file + "}]")) {
            LoadResult result =
                    result(EGRESS + "connect: [{parentRefs: [{name: egress}], allow: [a.example], " + auth + "}]\n");
            assertThat(result.problems().toString()).doesNotContain("hunter");
        }
    }

    @Test
    void aRouteIsForTunnelsIfItsListenersAre() {
        GatewayConfig config = valid(
                """
                listeners:
                  - {name: web, port: 8080, protocol: HTTP}
                  - {name: in, port: 8443, protocol: TLS, tls: {mode: Passthrough}, limits: {maxConnections: 10}}
                  - {name: db, port: 5432, protocol: TCP}
                routes:
                  - rules:
                      - backendRefs: [{name: app}]
                        webSocket: {idle: 5m, allowedOrigins: ["https://Example.com:443", "http://a.example:8080"]}
                        upgrades: [WebSocket, tn3270/1]
                  - parentRefs: [{name: in}]
                    hostnames: ["*.example.com"]
                    rules: [{backendRefs: [{name: tls}], timeouts: {idle: 5m, max: 1h}}]
                  - parentRefs: [{name: db}]
                    rules: [{backendRefs: [{name: tls}]}]
                upstreams:
                  - {name: app, endpoints: [{host: 127.0.0.1, port: 9000}]}
                  - {name: tls, endpoints: [{host: 127.0.0.1, port: 9443}], sendProxyProtocol: v1}
                """);
        RuleConfig web = config.routes().get(0).rules().get(0);
        assertThat(web.timeouts().tunnel()).isNull();
        assertThat(web.upgrades().webSocket().allowedOrigins())
                .containsExactly("https://example.com", "http://a.example:8080");
        assertThat(web.upgrades().webSocket().timeouts().idle()).isEqualTo(Duration.ofMinutes(5));
        assertThat(web.upgrades().tokens()).containsExactly("websocket", "tn3270/1");
        assertThat(config.routes().get(0).appliesTo(config.listeners().get(0))).isTrue();
        assertThat(config.routes().get(0).appliesTo(config.listeners().get(1))).isFalse();
        assertThat(config.routes().get(1).rules().get(0).timeouts().tunnel())
                .isEqualTo(new TunnelTimeouts(Duration.ofMinutes(5), Duration.ofMinutes(1), Duration.ofHours(1)));
        assertThat(config.routes().get(2).rules().get(0).timeouts().tunnel())
                .isEqualTo(new TunnelTimeouts(Duration.ofHours(1), Duration.ofMinutes(1), Duration.ZERO));
        assertThat(config.listeners().get(1).protocols().protocol()).isEqualTo(Protocol.TLS);
        assertThat(config.upstreams().get(1).protocols().sendProxyProtocol()).isEqualTo(SendProxyProtocol.V1);

        String printed = ConfigPrinter.yaml(config);
        assertThat(ConfigPrinter.yaml(valid(printed))).isEqualTo(printed);
    }

    @Test
    void whatAnEntryHasOfNoUseIsWarnedOf() {
        assertThat(
                        warnings(
                                """
                listeners: [{name: egress, port: 3128, protocol: HTTP}]
                connect:
                  - parentRefs: [{name: egress}]
                    allow: [a.example, b.example, 10.0.0.0/8, localhost, all]
                    deny: [.b.example]
                    parents:
                      - {hosts: [.example.org], proxy: DIRECT}
                      - {hosts: [www.example.org, "*"], proxy: "http://proxy.example:3128"}
                      - {hosts: [.example.net], proxy: DIRECT}
                """))
                .containsExactly(
                        "4:24: warning: 'b.example' is never allowed: deny has '.b.example' in line 5, and comes first",
                        "4:35: warning: '10.0.0.0/8' is private, and denyPrivate refuses it: add it to trustedDestinations",
                        "4:47: warning: 'localhost' is private, and denyPrivate refuses it: add it to trustedDestinations",
                        "4:58: warning: this is the host named 'all': write '*' for all hosts",
                        "8:18: warning: 'www.example.org' never reaches this entry: line 7 has '.example.org', and comes first",
                        "9:18: warning: '.example.net' never reaches this entry: line 8 has '*', and comes first");
    }

    @Test
    void anIdentityThatIsProvenInTwoWaysIsWarnedOf() {
        assertThat(
                        warnings(
                                """
                listeners:
                  - name: egress
                    port: 3128
                    protocol: HTTPS
                    tls:
                      certificateRefs: [{certFile: tls/server.crt, keyFile: tls/server.key}]
                      clientAuth: optional
                      caFile: tls/server.crt
                connect:
                  - parentRefs: [{name: egress}]
                    allow: [a.example]
                    auth: {basic: {usersFile: secrets/users}, clientCertificate: true}
                    policies:
                      - {identities: [alice], allow: [b.example]}
                      - {identities: [only-a-certificate], allow: [b.example]}
                """))
                .contains(
                        "14:22: warning: a client certificate with the common name 'alice' is the same identity as the user"
                                + " of that name")
                .noneMatch(warning -> warning.contains("only-a-certificate"));
    }

    @Test
    void whatAPolicyHasOfNoUseIsWarnedOf() {
        assertThat(
                        warnings(
                                """
                listeners: [{name: egress, port: 3128, protocol: HTTP}]
                connect:
                  - parentRefs: [{name: egress}]
                    allow: [a.example]
                    deny: [.b.example]
                    sni: mustMatch
                    auth: {basic: {usersFile: secrets/users}}
                    policies:
                      - {identities: [ci], allow: [b.example, 10.0.0.0/8, all]}
                      - {identities: [ops], allow: [192.0.2.0/24], sni: mustMatch}
                """))
                .contains(
                        "9:36: warning: 'b.example' is never allowed: deny has '.b.example' in line 5, and comes first",
                        "9:47: warning: '10.0.0.0/8' is private, and denyPrivate refuses it: add it to trustedDestinations",
                        "9:59: warning: this is the host named 'all': write '*' for all hosts",
                        "10:57: warning: sni has nothing to compare: allow has only addresses, for which TLS clients send no server name");
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "127.0.0.1", "127.0.0.0/8", "'::1'"})
    void localhostIsTrustedByNameOrByAddress(String trusted) {
        assertThat(warnings(
                        """
                listeners: [{name: egress, port: 3128, protocol: HTTP}]
                connect: [{parentRefs: [{name: egress}], allow: [localhost], trustedDestinations: [%s]}]
                """
                                .formatted(trusted)))
                .isEmpty();
    }

    @Test
    void aTrustedDestinationMayHaveAPort() {
        ConnectConfig entry = valid(
                        EGRESS
                                + """
                        connect:
                          - parentRefs: [{name: egress}]
                            allow: [a.test]
                            trustedDestinations: ["127.0.0.1:9000", "[::1]:9001", "App.test:80", 10.0.0.0/8]
                        """)
                .connect()
                .get(0);
        assertThat(entry.rules().addresses().trustedDestinations())
                .extracting(Destination::text)
                .containsExactly("127.0.0.1:9000", "[0:0:0:0:0:0:0:1]:9001", "app.test:80", "10.0.0.0/8");
    }

    @Test
    void whoMayReachTheGatewayItselfIsWarnedOf() {
        assertThat(
                        warnings(
                                EGRESS
                                        + """
                        connect:
                          - parentRefs: [{name: egress}]
                            allow: [a.test]
                            trustedDestinations: ["127.0.0.1:9901"]
                        admin: {address: 127.0.0.1, port: 9901}
                        """))
                .singleElement()
                .asString()
                .contains("the admin listener");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{enabled: false}", "{unix: /run/gateway/admin.sock}", "{address: 127.0.0.1, port: 9902}"})
    void anAdminListenerElsewhereIsNotWarnedOf(String admin) {
        assertThat(warnings(EGRESS
                        + """
                        connect:
                          - parentRefs: [{name: egress}]
                            allow: [a.test]
                            trustedDestinations: ["127.0.0.1:9901"]
                        admin: %s
                        """
                                .formatted(admin)))
                .isEmpty();
    }

    @Test
    void anEntryThatLeadsToThisMachineIsWarnedOf() {
        String entry = EGRESS + "connect: [{parentRefs: [{name: egress}], allow: ['*'], denyPrivate: false%s}]\n";
        assertThat(warnings(entry.formatted(""))).anyMatch(line -> line.contains("on this machine only"));
        assertThat(warnings(entry.formatted(", deny: [127.0.0.0/8]")))
                .noneMatch(line -> line.contains("on this machine only"));
    }

    @Test
    void addressesAreNotComparedWithNames() {
        assertThat(
                        warnings(
                                """
                listeners: [{name: egress, port: 3128, protocol: HTTP}]
                connect:
                  - parentRefs: [{name: egress}]
                    allow: [192.0.2.9/24]
                    denyPrivate: false
                    trustedDestinations: [192.0.2.1]
                    sni: mustMatch
                """))
                .containsExactly(
                        "4:13: warning: allow: '192.0.2.9/24' is all of 192.0.2.0/24: write it so, or the address alone",
                        "6:26: warning: trustedDestinations without a port have no effect with denyPrivate: false",
                        "7:10: warning: sni has nothing to compare: allow has only addresses, for which TLS clients send no server name");
    }

    @Test
    void aWayOutForEverybodyIsWarnedOf() {
        String entry = "connect: [{parentRefs: [{name: egress}], allow: [\"*\"]}]\n";
        assertThat(warnings(EGRESS + entry))
                .containsExactly(
                        "2:50: warning: anyone who can connect to listener 'egress' can reach every host through it: add"
                                + " 'auth', name the hosts, or bind it to 127.0.0.1");
        assertThat(warnings(EGRESS + "connect: [{parentRefs: [{name: egress}], audit: true}]\n"))
                .containsExactly(
                        "2:49: warning: anyone who can connect to listener 'egress' can reach every host through it: add"
                                + " 'auth' or bind it to 127.0.0.1");
        assertThat(warnings("listeners: [{name: egress, address: 127.0.0.1, port: 3128, protocol: HTTP}]\n" + entry))
                .isEmpty();
    }

    @Test
    void aRouteForEverythingIsWarnedOfWhereItHidesConnect() {
        assertThat(
                        warnings(
                                EGRESS
                                        + """
                routes: [{rules: [{backendRefs: [{name: app}]}]}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 9000}]}]
                connect: [{parentRefs: [{name: egress}], allow: [a.example]}]
                """))
                .containsExactly("2:10: warning: without parentRefs this route is for listener 'egress' too, and takes"
                        + " requests for http:// URLs before 'connect' does");
    }

    @Test
    void policiesThatHoldForNobodyAreWarnedOf() {
        assertThat(warnings(
                        """
                listeners: [{name: egress, port: 3128, protocol: HTTP}]
                connect:
                  - parentRefs: [{name: egress}]
                    auth: {groupsFile: secrets/groups, basic: {usersFile: secrets/users}, bearer: {tokensFile: secrets/tokens}}
                    policies:
                      - {identities: [alice, ci], allow: ["*"], limits: {maxTunnels: 20}}
                      - {identities: [alice, mallory], groups: [admin], allow: ["*"]}
                    limits: {maxTunnels: 10}
                  - parentRefs: [{name: other}]
                    allow: [a.example]
                    auth: {basic: {usersFile: secrets/users-empty}}
                """
                                .replace(
                                        "protocol: HTTP}]",
                                        "protocol: HTTP}, {name: other, port: 1, protocol: HTTP}]")))
                .containsExactly(
                        "6:70: warning: maxTunnels has no effect: the entry allows no more than 10 in all",
                        "7:22: warning: 'alice' has the policy in line 6 already; the first one applies",
                        "7:22: warning: no identity 'mallory' in the files of 'auth'",
                        "7:48: warning: no group 'admin' in the files of 'auth': did you mean 'admins'?",
                        "11:31: warning: usersFile: nobody is in " + TEST_FILES + "/secrets/users-empty");
    }

    @Test
    void aLineThatLocksOutItsOwnUserIsWarnedOf() {
        assertThat(
                        warnings(
                                """
                listeners: [{name: egress, port: 3128, protocol: HTTP}, {name: web, address: 127.0.0.1, port: 80, protocol: HTTP}]
                connect:
                  - parentRefs: [{name: egress}]
                    auth: {basic: {usersFile: secrets/users-plain}}
                    allow: [a.example]
                routes:
                  - parentRefs: [{name: web}]
                    rules:
                      - filters:
                          - {type: BasicAuth, basicAuth: {usersFile: secrets/users-plain}}
                          - {type: DirectResponse, directResponse: {statusCode: 204}}
                      - matches: [{path: {value: /empty}}]
                        filters:
                          - {type: BasicAuth, basicAuth: {usersFile: secrets/users-empty}}
                          - {type: DirectResponse, directResponse: {statusCode: 204}}
                """))
                .satisfiesExactlyInAnyOrder(
                        connect -> assertThat(connect)
                                .startsWith("4:31: warning: usersFile: " + TEST_FILES
                                        + "/secrets/users-plain:2:1: the password"),
                        filter -> assertThat(filter)
                                .startsWith("10:54: warning: usersFile: " + TEST_FILES
                                        + "/secrets/users-plain:2:1: the password"),
                        empty -> assertThat(empty)
                                .isEqualTo("14:54: warning: usersFile: nobody is in " + TEST_FILES
                                        + "/secrets/users-empty"));
    }

    @Test
    void passwordsWithWeakHashesAreWarnedOf() {
        String weak =
                ", against which a computer tries millions of passwords a second: hash them again with 'htpasswd -B'";
        assertThat(
                        warnings(
                                """
                listeners: [{name: egress, port: 3128, protocol: HTTP}, {name: web, address: 127.0.0.1, port: 80, protocol: HTTP}]
                connect:
                  - parentRefs: [{name: egress}]
                    allow: [a.example]
                    auth: {basic: {usersFile: secrets/users-weak}}
                routes:
                  - parentRefs: [{name: web}]
                    rules:
                      - filters: [{type: BasicAuth, basicAuth: {usersFile: secrets/users-weak-one}}]
                        backendRefs: [{name: app}]
                upstreams: [{name: app, endpoints: [{host: 127.0.0.1, port: 1}]}]
                """))
                .containsExactly(
                        "5:31: warning: usersFile: 3 of 4 passwords have weak hashes ($apr1$, {SHA})" + weak,
                        "9:60: warning: usersFile: 1 of 1 passwords has a weak hash ($apr1$)" + weak);
    }

    @Test
    void tlsIsNotEncryptedTwice() {
        assertThat(
                        warnings(
                                """
                listeners: [{name: in, port: 8443, protocol: TLS, tls: {mode: Passthrough}}]
                routes:
                  - parentRefs: [{name: in}]
                    rules: [{backendRefs: [{name: app}]}]
                  - parentRefs: [{name: in}]
                    rules: [{backendRefs: [{name: app, weight: 0}]}]
                upstreams: [{name: app, endpoints: [{host: a.example, port: 443}], tls: {}}]
                """))
                .containsExactly(
                        "4:35: warning: clients' TLS is passed through as it is, and the tls of upstream 'app' encrypts it once more",
                        "5:5: warning: no connection reaches this route: line 3 is for all names of listener 'in' too, and comes first",
                        "6:27: warning: every weight is 0: the gateway closes every connection",
                        "6:35: warning: clients' TLS is passed through as it is, and the tls of upstream 'app' encrypts it once more");
    }

    private static List<String> texts(List<Destination> destinations) {
        return destinations.stream().map(Destination::text).toList();
    }

    private static LoadResult result(String text) {
        return ConfigLoader.parse("test.yaml", text.getBytes(StandardCharsets.UTF_8), TEST_FILES, Map.of());
    }

    private static GatewayConfig valid(String text) {
        LoadResult result = result(text);
        assertThat(result).as("%s", result.problems()).isInstanceOf(Valid.class);
        return ((Valid) result).config();
    }

    @Test
    void moreClientsThanTheOpenFilesAreForGetAWarning() {
        String listener = "listeners: [{name: web, port: 8080, protocol: HTTP, limits: {maxConnections: %d}}]\n";
        assertThat(warnings(listener.formatted(99_999_999))).anyMatch(each -> each.contains("(ulimit -n)"));
        assertThat(warnings(listener.formatted(1))).noneMatch(each -> each.contains("ulimit"));
        assertThat(warnings(listener.formatted(0))).noneMatch(each -> each.contains("ulimit"));
    }

    private static List<String> warnings(String text) {
        LoadResult result = result(text);
        assertThat(result).as("%s", result.problems()).isInstanceOf(Valid.class);
        return result.problems().stream()
                .map(each -> each.toString().substring("test.yaml:".length()))
                .toList();
    }
}
