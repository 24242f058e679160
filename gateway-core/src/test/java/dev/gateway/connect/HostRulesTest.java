package dev.gateway.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gateway.format.IpLiteral;
import io.netty.util.AsciiString;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HostRulesTest {
    private static @Nullable String match(HostRules rules, String host) {
        Target target = Objects.requireNonNull(Target.parse(new AsciiString(host), 443), host);
        HostRule rule = rules.match(target);
        return rule == null ? null : rule.text();
    }

    @ParameterizedTest
    @CsvSource({
        "api.github.com, api.github.com",
        "API.GitHub.com., api.github.com",
        "github.com,",
        "x.api.github.com,",
        "notapi.github.com,",
        "example.org, .example.org",
        "a.example.org, .example.org",
        "a.b.example.org, .example.org",
        "badexample.org,",
        "example.org.evil,",
        "deep.sub.example.org, .sub.example.org",
        "sub.example.org, sub.example.org",
        "org,",
        "192.0.2.7, 192.0.2.0/24",
        "[::ffff:192.0.2.7], 192.0.2.0/24",
        "192.0.3.7,",
        "198.51.100.4, 198.51.100.4",
        "[2001:db8:5::1], 2001:db8::/32",
        "[2001:db9::1],",
    })
    void theMostExactLineCounts(String host, @Nullable String expected) {
        HostRules rules = HostRules.of(Rules.allow(
                ".example.org",
                "api.github.com",
                ".sub.example.org",
                "sub.example.org",
                "192.0.2.0/24",
                "198.51.100.4",
                "2001:db8::/32"));

        assertThat(match(rules, host)).isEqualTo(expected);
    }

    @Test
    void aStarMatchesWhatNothingElseDoes() {
        HostRules rules = HostRules.of(Rules.allow("*", "a.example", "10.0.0.0/8"));

        assertThat(match(rules, "a.example")).isEqualTo("a.example");
        assertThat(match(rules, "b.example")).isEqualTo("*");
        assertThat(match(rules, "10.0.0.1")).isEqualTo("10.0.0.0/8");
        assertThat(match(rules, "[::1]")).isEqualTo("*");
    }

    @Test
    void anEmptyListMatchesNothing() {
        assertThat(match(HostRules.NONE, "a.example")).isNull();
        assertThat(match(HostRules.NONE, "192.0.2.1")).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ".",
                "*.example.org",
                "a..b",
                "example.org:443",
                "http://example.org",
                "127.1",
                "0x7f.1",
                "10.0.0.0/33",
                "10.0.0.1/8",
                "b\u00fccher.example",
                "a b",
                "..example.org",
                "[::1]",
                "fe80::1%eth0",
                "\uff11.2.3.4"
            })
    void whatIsNoneOfTheFormsIsAnError(String text) {
        assertThatThrownBy(() -> HostRules.of(Rules.allow(text))).isInstanceOf(IllegalArgumentException.class);
    }

    /** The script of {@link ProxyAutoConfig} compares words of 16 bits, and takes a mapped address for what is inside. */
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "192.0.2.0/24; [[49152,512],24]",
                "10.0.0.0/8; [[2560,0],8]",
                "0.0.0.0/0; [[0,0],0]",
                "198.51.100.4; [[50739,25604],32]",
                "255.255.255.255; [[65535,65535],32]",
                "::ffff:192.0.2.0/120; [[49152,512],24]",
                "2001:db8::/32; [[8193,3512,0,0,0,0,0,0],32]",
                "2001:db8::f00f; [[8193,3512,0,0,0,0,0,61455],128]",
                "a.example;",
                ".a.example;",
                "*;",
            })
    void aBlockIsWrittenAsWordsAndThePrefix(String line, @Nullable String script) {
        assertThat(HostRules.blockAsScript(line)).isEqualTo(script);
    }

    @Test
    void theFirstOfTwoStarsIsTheOneThatCounts() {
        HostRules rules = HostRules.of(List.of(new HostRule("*", "first"), new HostRule("*", "second")));
        Target target = Objects.requireNonNull(Target.parse(new AsciiString("a.example"), 443));
        assertThat(rules.match(target)).extracting(HostRule::label).isEqualTo("first");
        assertThat(rules.cidrs()).isEmpty();
    }

    @Test
    void theBlocksOfAListAreKnownInTheirOrder() {
        InetAddress address = Objects.requireNonNull(IpLiteral.parse4("10.1.1.1"));
        assertThat(HostRules.of(Rules.allow("a.example", "10.0.0.0/8", "*", "2001:db8::/32"))
                        .cidrs())
                .extracting(block -> block.contains(address))
                .containsExactly(true, false);
    }

    /** Compares the table with what it is short for: trying every line. */
    @Test
    void aTableFindsWhatTryingEveryLineWouldFind() {
        Random random = new Random(7);
        for (int round = 0; round < 300; round++) {
            List<String> texts = new ArrayList<>();
            for (int i = random.nextInt(40); i >= 0; i--) {
                String text = (random.nextBoolean() ? "." : "") + name(random);
                if (!texts.contains(text)) {
                    texts.add(text);
                }
            }
            HostRules rules = HostRules.of(Rules.allow(texts.toArray(String[]::new)));
            for (int i = 0; i < 50; i++) {
                String host = name(random);
                assertThat(match(rules, host)).as("%s in %s", host, texts).isEqualTo(naive(texts, host));
            }
        }
    }

    private static @Nullable String naive(List<String> texts, String host) {
        if (texts.contains(host)) {
            return host;
        }
        String best = null;
        for (String text : texts) {
            boolean holds = text.startsWith(".") && ("." + host).endsWith(text);
            if (holds && (best == null || text.length() > best.length())) {
                best = text;
            }
        }
        return best;
    }

    private static String name(Random random) {
        StringBuilder name = new StringBuilder();
        for (int i = random.nextInt(4); i >= 0; i--) {
            name.append((char) ('a' + random.nextInt(3))).append(i > 0 ? "." : "");
        }
        return name.toString();
    }
}
