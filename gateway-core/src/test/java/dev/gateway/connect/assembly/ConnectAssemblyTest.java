package dev.gateway.connect.assembly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.config.ConnectConfig;
import dev.gateway.config.ConnectConfig.Proxy.Kind;
import dev.gateway.config.LoadResult;
import dev.gateway.config.upstream.UpstreamConfig.Tls;
import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.connect.Decision;
import dev.gateway.connect.Policies;
import dev.gateway.files.StartException;
import dev.gateway.filter.auth.ProxyAuthentication;
import dev.gateway.format.AccountFile.NameAndPassword;
import dev.gateway.overload.memory.CacheMemory;
import dev.gateway.stream.Identity;
import dev.gateway.upstream.dial.AddressPolicy;
import dev.gateway.upstream.dial.ParentProxies;
import dev.gateway.upstream.dial.ParentProxy;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An entry of the configuration decides as it is documented. */
@SuppressWarnings("NullAway.Init") // the directory, which JUnit sets
class ConnectAssemblyTest {
    private static final String BCRYPT = "$2y$05$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZabcde";

    @TempDir
    private Path directory;

    private final ConnectShared state = new ConnectShared(
            (location, parsing) -> {
                throw new AssertionError("no filter has keys to fetch");
            },
            CacheMemory.UNLIMITED);

    @Test
    void theEntryAndItsPoliciesDecide() throws Exception {
        Files.writeString(directory.resolve("users"), "alice:" + BCRYPT + "\n");
        Files.writeString(directory.resolve("groups"), "builders: alice\n");
        Policies policies = entry(
                        """
                allowedPorts: [443, 8000-8999]
                allow: [api.example.com, .example.org, 192.0.2.0/24]
                deny: [bad.example.org]
                auth: {groupsFile: groups, basic: {usersFile: users}}
                policies:
                  - {groups: [builders], allow: ["*"]}
                """)
                .policies();
        assertThat(decide(policies, "api.example.com:443", null)).isEqualTo("allow[0]");
        assertThat(decide(policies, "API.example.com.:8080", null)).isEqualTo("allow[0]");
        assertThat(decide(policies, "example.org:443", null)).isEqualTo("allow[1]");
        assertThat(decide(policies, "192.0.2.7:443", null)).isEqualTo("allow[2]");
        assertThat(decide(policies, "bad.example.org:443", null)).isEqualTo("POLICY_HOST deny[0]");
        assertThat(decide(policies, "other.example.com:443", null)).isEqualTo("POLICY_HOST allow");
        assertThat(decide(policies, "api.example.com:22", null)).isEqualTo("POLICY_PORT allowedPorts");

        Identity alice = new Identity("alice", Set.of("builders"));
        assertThat(decide(policies, "other.example.com:443", alice)).isEqualTo("policies[0].allow[0]");
        assertThat(decide(policies, "bad.example.org:443", alice)).isEqualTo("POLICY_HOST deny[0]");
        assertThat(decide(policies, "other.example.com:443", new Identity("bob", Set.of())))
                .isEqualTo("POLICY_HOST allow");
    }

    private static String decide(Policies policies, String authority, @Nullable Identity identity) {
        Decision decision = Objects.requireNonNull(policies.explain(authority, identity));
        return (decision.cause() == null ? "" : decision.cause() + " ") + decision.rule();
    }

    @Test
    void whatIsDialedIsJudgedTheAddressIncluded() throws Exception {
        state.listensOn(List.of(new InetSocketAddress("198.51.100.1", 3128)), List.of(), null, null);
        AddressPolicy addresses = Objects.requireNonNull(entry(
                        """
                allow: ["*"]
                deny: [203.0.113.0/24]
                trustedDestinations: [10.1.2.0/24, registry.example]
                """)
                .upstreams()
                .get(0)
                .settings()
                .dialSettings()
                .addresses());
        assertThat(refuse(addresses, "a.example", "8.8.8.8")).isNull();
        assertThat(refuse(addresses, "a.example", "127.0.0.1")).isNotNull();
        assertThat(refuse(addresses, "a.example", "10.1.3.1")).isNotNull();
        assertThat(refuse(addresses, "a.example", "10.1.2.1")).isNull();
        assertThat(refuse(addresses, "registry.example", "10.1.3.1")).isNull();
        assertThat(refuse(addresses, "a.example", "203.0.113.9")).isNotNull();
    }

    private static @Nullable String refuse(AddressPolicy addresses, String host, String address) throws IOException {
        return addresses.refuse(host, InetAddress.getByName(address), 443);
    }

    @Test
    void theFirstParentThatMatchesIsTaken() throws Exception {
        Files.writeString(directory.resolve("parent"), "# of the proxy team\n\ngateway : s3cr:t \n");
        ParentProxies parents = entry(
                        """
                allow: ["*"]
                parents:
                  - {hosts: [.corp.example, 10.0.0.0/8], proxy: DIRECT}
                  - {hosts: [.example], proxy: "socks5://[2001:db8::1]:1080", credentialsFile: parent}
                  - {hosts: ["*"], proxy: "https://proxy.example:3128"}
                """)
                .upstreams()
                .get(0)
                .settings()
                .dialSettings()
                .parents();
        assertThat(parents.parentOf("www.corp.example", 443)).isNull();
        assertThat(parents.parentOf("10.1.2.3", 443)).isNull();
        assertThat(parents.parentOf("WWW.example", 443))
                .isEqualTo(new ParentProxy(
                        Kind.SOCKS5, "2001:db8::1", 1080, new NameAndPassword("gateway", "s3cr:t"), null));
        ParentProxy last = Objects.requireNonNull(parents.parentOf("2001:db8::7", 443));
        assertThat(last).hasToString("https://proxy.example:3128");
        assertThat(last.tls()).isEqualTo(Tls.verified(Position.NOWHERE, null));
    }

    @Test
    void aParentIsTheSameWhereverItIsWritten() throws Exception {
        ParentProxies parents = entry(
                        """
                allow: ["*"]
                parents:
                  - {hosts: [.example], proxy: "https://proxy.test:3128", tls: {serverName: one.test}}
                  - {hosts: [.corp.test], proxy: "https://proxy.test:3128", tls: {serverName: one.test}}
                  - {hosts: ["*"], proxy: "https://proxy.test:3128", tls: {serverName: other.test}}
                """)
                .upstreams()
                .get(0)
                .settings()
                .dialSettings()
                .parents();
        ParentProxy parent = parents.parentOf("www.example", 443);
        assertThat(parents.parentOf("www.corp.test", 443)).isNotNull().isEqualTo(parent);
        assertThat(parents.parentOf("a.test", 443)).isNotNull().isNotEqualTo(parent);
    }

    /** What the loader lets pass must not fail when the gateway starts. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "*",
                "a",
                "a.example.",
                ".A.example",
                "_dmarc.example",
                "a_b.example",
                "xn--bcher-kva.example",
                "1.2.3.4",
                "10.1.2.3/8",
                "0.0.0.0/0",
                "::/0",
                "::1",
                "2001:DB8::/32",
                "::ffff:10.0.0.1",
                "fe80::1",
                "1a.example",
                "a.1b",
                "0x7f",
                "127.1",
                "2130706433",
                "010.0.0.1",
                "0177.0.0.1",
                "1.2.3.4.",
                "a.0x1",
                "a..b",
                "-a.example",
                "a-.example",
                "a.example-",
            })
    void configurationAndPolicyAgreeOnDestinations(String text) throws Exception {
        LoadResult result = load("allow: ['" + text + "']\n");
        if (result instanceof LoadResult.Valid valid) {
            assertThat(ConnectAssembly.entry(valid.config().connect().get(0), state))
                    .isNotNull();
        } else {
            assertThat(result.problems().get(0).message()).startsWith("allow: expected");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "true|users|alice:" + BCRYPT,
                "true|users|alice: $apr1$saltsalt$ABCDEFGHIJKLMNOPQRSTU/ ",
                "true|users|alice:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=",
                "true|users|alice:$5$salt$" + "0123456789012345678901234567890123456789012",
                "true|users|alice:$argon2id$v=19$m=4096,t=3,p=1$c29tZXNhbHQ$RdescudvJCsgt3ub+b4dWRWJTmaaJObG",
                "true|users|# nobody",
                "false|users|alice:hunter2",
                "false|users|alice:$1$salt$0123456789012345678901",
                "false|users|alice:rqXexS6ZhobKA",
                "false|users|alice:" + BCRYPT + "x",
                "false|users|alice:$5$rounds=9999999$salt$" + "0123456789012345678901234567890123456789012",
                "false|users|alice:$6$salt$" + "0123456789012345678901234567890123456789012",
                "false|users|alice:$argon2id$v=19$m=4096,t=3,p=1$c29tZXNhbHQcc$RdescudvJCsgt3ub+b4dWRWJTmaaJObG",
                "false|users|alice:$2y$31$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZabcde",
                "false|users|alice:$argon2id$v=19$m=1048576,t=3,p=1$c29tZXNhbHQ$RdescudvJCsgt3ub+b4dWRWJTmaaJObG",
                "false|users|alice:$argon2id$v=19$m=4,t=3,p=1$c29tZXNhbHQ$RdescudvJCsgt3ub+b4dWRWJTmaaJObG",
                "false|users|:" + BCRYPT,
                "false|users|alice",
                "true|tokens|ci:mF_9.B5f-4.1JqM=",
                "true|tokens|ci:sha256:ABcd012345678901234567890123456789012345678901234567890123456789",
                "false|tokens|ci:sha256:012345",
                "false|tokens|ci:",
                "false|tokens|ci:to ken",
                "true|groups|builders: alice bob",
                "true|groups|builders:",
                "false|groups|builders alice",
            })
    void configurationAndAuthenticationAgreeOnFiles(boolean valid, String file, String line) throws Exception {
        for (String name : List.of("users", "tokens", "groups")) {
            Files.writeString(directory.resolve(name), name.equals(file) ? line + "\n" : "");
        }
        String auth = "auth: {groupsFile: groups, basic: {usersFile: users}, bearer: {tokensFile: tokens}}\n";
        LoadResult result = load("allow: ['*']\n" + auth);
        assertThat(result instanceof LoadResult.Valid)
                .as("%s", result.problems())
                .isEqualTo(valid);

        // The same files, good when they were looked at, are what the gateway finds when it starts.
        Files.writeString(directory.resolve(file), "");
        ConnectConfig config = config("allow: ['*']\n" + auth);
        Files.writeString(directory.resolve(file), line + "\n");
        if (!valid && file.equals("groups")) { // no user could be locked out by it
            assertThatThrownBy(() -> ConnectAssembly.entry(config, state))
                    .isInstanceOf(StartException.class)
                    .hasMessageContaining(file + ":1:1: ");
            return;
        }
        ProxyAuthentication login =
                Objects.requireNonNull(ConnectAssembly.entry(config, state).login());
        assertThat(login.problems().isEmpty()).isEqualTo(valid);
        assertThat(login.problems().toString()).doesNotContain("hunter2");
        if (!valid) {
            assertThat(login.problems().toString()).contains(file + ":1:1: ");
        }
    }

    private ConnectEntry entry(String keys) throws Exception {
        return ConnectAssembly.entry(config(keys), state);
    }

    private ConnectConfig config(String keys) {
        LoadResult result = load(keys);
        assertThat(result).as("%s", result.problems()).isInstanceOf(LoadResult.Valid.class);
        return ((LoadResult.Valid) result).config().connect().get(0);
    }

    private LoadResult load(String keys) {
        String text = "listeners: [{name: egress, address: 127.0.0.1, port: 3128, protocol: HTTP}]\nconnect:\n"
                + "  - parentRefs: [{name: egress}]\n" + keys.indent(4);
        return ConfigLoader.parse("test", text.getBytes(StandardCharsets.UTF_8), directory, Map.of());
    }
}
