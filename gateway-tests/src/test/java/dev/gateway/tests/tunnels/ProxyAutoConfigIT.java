package dev.gateway.tests.tunnels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.ConnectConfig.Sni;
import dev.gateway.connect.AddressRules;
import dev.gateway.connect.ConnectPolicy;
import dev.gateway.connect.Decision;
import dev.gateway.connect.HostRule;
import dev.gateway.connect.Policies;
import dev.gateway.connect.ProxyAutoConfig;
import dev.gateway.format.PortRange;
import dev.gateway.tests.support.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the script that tells clients what to send here. */
class ProxyAutoConfigIT {
    private static final ProxyAutoConfig.Proxy PROXY = new ProxyAutoConfig.Proxy(false, "proxy.example", 3128);
    private static final String HERE = "PROXY proxy.example:3128";

    @TempDir
    private Path directory;

    private static List<HostRule> rules(String... texts) {
        return Stream.of(texts).map(text -> new HostRule(text, text)).toList();
    }

    private static ConnectPolicy policy(List<HostRule> allow, List<HostRule> deny) {
        return new ConnectPolicy(new ConnectPolicy.Settings(
                "egress", List.of(new PortRange(443, 443), new PortRange(8000, 8010)), allow, deny, Sni.OFF, 0));
    }

    private static String script(Policies policies, boolean denyPrivate, String... trusted) {
        return new ProxyAutoConfig(
                        policies,
                        new AddressRules.Settings("egress", denyPrivate, rules(trusted), List.of(), List.of(), false))
                .script(PROXY);
    }

    /** Asks the script of each host, given as it stands in a URL; returns its answers in order. */
    private List<String> ask(String script, List<String> urls) throws IOException, InterruptedException {
        String node = Tools.find("node");
        Path file = directory.resolve("pac.js");
        // The script runs by itself, as strictly as can be, and finds nothing but the language.
        Files.writeString(file, "\"use strict\";\n" + script);
        Path runner = directory.resolve("run.js");
        Files.writeString(
                runner,
                """
                const fs = require("fs");
                const context = require("vm").createContext({});
                require("vm").runInContext(fs.readFileSync(process.argv[2], "utf8"), context);
                for (const url of fs.readFileSync(process.argv[3], "utf8").split("\\n")) {
                  const host = /^[a-z]+:\\/\\/(?:[^\\/@]*@)?(\\[[^\\]]*\\]|[^\\/:]*)/.exec(url)[1];
                  context.url = url;
                  context.host = host;
                  console.log(require("vm").runInContext("FindProxyForURL(url, host)", context));
                }
                """);
        Path cases = Files.writeString(directory.resolve("urls"), String.join("\n", urls));
        Tools.Result result = Tools.run(node, runner.toString(), file.toString(), cases.toString());
        assertThat(result.exit()).as(result.output()).isZero();
        return result.output().lines().toList();
    }

    @Test
    void whatIsAllowedIsSentHereAndNothingElse() throws Exception {
        Policies policies = new Policies(
                policy(rules("api.example", ".example.org", "192.0.2.0/24", "2001:db8::/32"), rules("no.example.org")),
                List.of(new Policies.Assigned(Set.of("ci"), Set.of(), policy(rules("ci.example"), List.of()))));
        List<String> here = List.of(
                "https://api.example/",
                "https://API.example./x",
                "https://example.org/",
                "https://a.b.example.org/",
                "https://example.org:8010/",
                "wss://example.org/",
                "http://example.org:443/",
                "https://user:pass@example.org/",
                "https://192.0.2.7/",
                "https://[2001:db8::7]/",
                "https://ci.example/");
        List<String> direct = List.of(
                "http://api.example/",
                "https://api.example:444/",
                "https://x.api.example/",
                "https://badexample.org/",
                "https://no.example.org/",
                "https://192.0.3.7/",
                "https://[2001:db9::7]/",
                "https://[::1]/",
                "ftp://example.org/",
                "https://other.test/");

        String script = script(policies, false);

        assertThat(ask(script, here)).hasSize(here.size()).containsOnly(HERE);
        assertThat(ask(script, direct)).hasSize(direct.size()).containsOnly("DIRECT");
    }

    @Test
    void whatIsNotPublicIsNotSentHereUnlessItIsTrusted() throws Exception {
        String script = script(
                new Policies(policy(rules("*", "named"), List.of()), List.of()),
                true,
                "registry.local",
                "10.1.2.0/24",
                "fd00:1::/32");
        List<String> here = List.of(
                "https://public.example/",
                "https://named/",
                "https://8.8.8.8/",
                "https://[2600::1]/",
                "https://registry.local/",
                "https://10.1.2.3/",
                "https://[fd00:1::1]/",
                "https://[::ffff:8.8.8.8]/");
        List<String> direct = List.of(
                "https://localhost/",
                "https://x.localhost/",
                "https://printer.local/",
                "https://printer/",
                "https://127.0.0.1/",
                "https://10.1.3.3/",
                "https://192.168.1.1/",
                "https://169.254.169.254/",
                "https://224.0.0.1/",
                "https://[::1]/",
                "https://[fe80::1]/",
                "https://[fd00:2::1]/",
                "https://[::ffff:10.0.0.1]/",
                "https://[ff02::1]/");

        assertThat(ask(script, here)).hasSize(here.size()).containsOnly(HERE);
        assertThat(ask(script, direct)).hasSize(direct.size()).containsOnly("DIRECT");
    }

    /** Whatever the policy, the script and the rules say the same. */
    @Test
    void theScriptDecidesAsTheRulesDo() throws Exception {
        Random random = new Random(11);
        for (int round = 0; round < 5; round++) {
            Policies policies = new Policies(
                    policy(rules(lines(random)), rules(lines(random))),
                    List.of(new Policies.Assigned(Set.of("x"), Set.of(), policy(List.of(), List.of()))));
            List<String> urls = new ArrayList<>();
            List<String> expected = new ArrayList<>();
            for (int i = 0; i < 2000; i++) {
                String authority = host(random) + ":" + (random.nextInt(5) == 0 ? 80 : 443);
                Decision decision = policies.explain(authority, null);
                if (decision != null && !decision.rule().equals("literal")) {
                    urls.add("https://" + authority + "/");
                    expected.add(decision.isAllowed() ? HERE : "DIRECT");
                }
            }

            List<String> answers = ask(script(policies, false), urls);

            assertThat(Set.copyOf(answers)).hasSize(2);
            assertThat(answers).isEqualTo(expected);
        }
    }

    private static String[] lines(Random random) {
        return Stream.generate(() -> switch (random.nextInt(4)) {
                    case 0 -> "." + name(random);
                    case 1 -> "192.0." + random.nextInt(4) + ".0/" + (24 + random.nextInt(3));
                    case 2 -> "2001:" + random.nextInt(3) + "::/" + (32 + random.nextInt(20));
                    default -> name(random);
                })
                .limit(1 + random.nextInt(10))
                .toArray(String[]::new);
    }

    private static String name(Random random) {
        return Stream.generate(() -> "abc".substring(random.nextInt(3)).substring(0, 1))
                .limit(1 + random.nextInt(3))
                .collect(Collectors.joining("."));
    }

    private static String host(Random random) {
        return switch (random.nextInt(4)) {
            case 0 -> "192.0." + random.nextInt(4) + "." + random.nextInt(130);
            case 1 ->
                "[2001:" + random.nextInt(3) + (random.nextBoolean() ? "" : ":800") + "::" + random.nextInt(9) + "]";
            default -> name(random);
        };
    }
}
