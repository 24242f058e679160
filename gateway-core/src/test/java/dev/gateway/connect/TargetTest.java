package dev.gateway.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatObject;

import dev.gateway.message.Authority;
import dev.gateway.message.Heads;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TargetTest {
    private static @Nullable Target connect(String authority) {
        return Target.of(Heads.request("CONNECT", authority, ""));
    }

    @ParameterizedTest
    @CsvSource({
        "example.com:443, example.com",
        "EXAMPLE.Com:443, example.com",
        "example.com.:443, example.com",
        "xn--bcher-kva.example:443, xn--bcher-kva.example",
        "_service.example:443, _service.example",
        "localhost:443, localhost",
        "LOCALHOST:443, localhost",
        "1.2.3.4.example:443, 1.2.3.4.example",
        "0x7f.example:443, 0x7f.example",
        "a0:443, a0",
        "0xg:443, 0xg",
    })
    void namesAreJudgedInLowerCaseWithoutADotAtTheirEnd(String authority, String host) {
        Target target = connect(authority);

        assertThat(target).isEqualTo(new Target(host, null, 443, false));
    }

    @ParameterizedTest
    @CsvSource({
        "192.0.2.1:443, 192.0.2.1",
        "0.0.0.0:443, 0.0.0.0",
        "255.255.255.255:443, 255.255.255.255",
        "[::1]:443, ::1",
        "[::]:443, ::",
        "[2001:DB8::1]:443, 2001:db8::1",
        "[2001:db8:0:0:0:0:0:1]:443, 2001:db8::1",
        "[::ffff:127.0.0.1]:443, 127.0.0.1",
        "[::ffff:7f00:1]:443, 127.0.0.1",
        "[0:0:0:0:0:ffff:10.1.2.3]:443, 10.1.2.3",
        "[64:ff9b::a00:1]:443, 64:ff9b::a00:1",
        "[::127.0.0.1]:443, ::7f00:1",
        "[1:2:3:4:5:6:7::]:443, 1:2:3:4:5:6:7:0",
    })
    void addressesAreJudgedAsWhatTheyAre(String authority, String host) throws UnknownHostException {
        Target target = Objects.requireNonNull(connect(authority));

        assertThat(target.host()).isEqualTo(host);
        assertThat(target.address()).isEqualTo(InetAddress.getByName(host));
        assertThat(target.odd()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "2130706433:443",
                "017700000001:443",
                "0x7f000001:443",
                "0177.0.0.1:443",
                "0x7f.1:443",
                "0x7f.0.0.1:443",
                "127.1:443",
                "127.0.1:443",
                "127.0.0.01:443",
                "127.0.0.1.:443",
                "256.0.0.1:443",
                "1.2.3.4.5:443",
                "127.0.0.0x1:443",
                "0:443",
                "00:443",
                "0x:443",
                "0xa:443",
                "0xf.0X0.0xf:443",
                "1.:443",
                "a.1:443",
                "a.0x1f.:443",
                "127.0.0.00000001:443",
                "4294967296:443",
                "010.8.8.8:443",
                "0X7F.1:443"
            })
    void whatSomeTakeForAnAddressAndOthersForANameIsOdd(String authority) {
        Target target = Objects.requireNonNull(connect(authority));

        assertThat(target.odd()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ":443",
                "example.com",
                "example.com:",
                "example.com:0",
                "example.com:65536",
                "example.com:4 43",
                "example.com:443:443",
                "user@example.com:443",
                "a..b:443",
                ".example.com:443",
                "example.com..:443",
                "[::1:443",
                "[::1]443",
                "::1:443",
                "[fe80::1%25eth0]:443",
                "[fe80::1%eth0]:443",
                "127.0.0.1%00:443",
                "%31%32%37.0.0.1:443",
                "a~b:443",
                "a b:443",
                "exa/mple:443",
                "[1.2.3.4]:443",
                "[:::1]:443",
                "[1::2::3]:443",
                "[1:2:3:4:5:6:7:8:9]:443",
                "[1:2:3:4:5:6:7:8::]:443",
                "[::ffff:127.1]:443",
                "[::ffff:0177.0.0.1]:443",
                "[12345::]:443",
                "[]:443",
                "[64:ff9b::10.0.0.1]:443",
                "http://example.com:443"
            })
    void whatIsNotAHostAndAPortIsNoTarget(String authority) {
        assertThat(connect(authority)).isNull();
    }

    @Test
    void namesAreNoLongerThanDnsKnows() {
        String label = "a".repeat(63);
        String longest = label + "." + label + "." + label + "." + "a".repeat(61);

        assertThat(connect(longest + ":443")).isNotNull();
        assertThat(connect(longest + ".:443")).isNotNull();
        assertThat(connect(longest + "a:443")).isNull();
        assertThat(connect("a" + label + ".example:443")).isNull();
        assertThat(connect("1".repeat(250) + ":443")).extracting(Target::odd).isEqualTo(true);
    }

    @Test
    void aRequestForAnHttpUriIsForPort80UnlessItSaysOtherwise() {
        assertThat(Target.of(Heads.get("example.com", "/"))).isEqualTo(new Target("example.com", null, 80, false));
        assertThat(Target.of(Heads.get("example.com:", "/"))).isEqualTo(new Target("example.com", null, 80, false));
        assertThat(Target.of(Heads.get("example.com:8080", "/")))
                .isEqualTo(new Target("example.com", null, 8080, false));
    }

    @ParameterizedTest
    @CsvSource({
        "example.com:443, example.com:443",
        "Example.COM.:443, example.com:443",
        "[::FFFF:10.0.0.1]:443, 10.0.0.1:443",
        "[64:FF9B:0::A00:1]:443, [64:ff9b::a00:1]:443",
        "[::1]:443, [::1]:443",
    })
    void whatWasJudgedCanBeWrittenInItsPlace(String authority, String expected) {
        Target target = Objects.requireNonNull(connect(authority));
        AsciiString written = new AsciiString(authority);

        assertThat(target.isWritten(written)).isEqualTo(authority.equals(expected));
        assertThatObject(target.rewrite(written)).hasToString(expected);
        assertThat(target).hasToString(expected);
    }

    /** Whatever is judged an address is the same address to the resolver, once it is written as it was judged. */
    @Test
    void theResolverReadsAddressesAsTheyWereJudged() {
        Random random = new Random(1);
        int addresses = 0;
        for (int i = 0; i < 200_000; i++) {
            Target target = connect(randomAuthority(random));
            if (target == null || target.address() == null) {
                if (target != null && !target.odd()) {
                    assertThat(NetUtil.createByteArrayFromIpAddressString(target.host()))
                            .as(target.host())
                            .isNull();
                }
                continue;
            }
            addresses++;
            assertThat(NetUtil.createByteArrayFromIpAddressString(target.host()))
                    .as(target.host())
                    .isEqualTo(target.address().getAddress());
            RequestHead rewritten = Heads.request(
                    "CONNECT", target.rewrite(new AsciiString("x:1")).toString(), "");
            assertThat(Authority.isValid(rewritten.authority())).isTrue();
            assertThat(Target.of(rewritten)).isEqualTo(target);
        }
        assertThat(addresses).isGreaterThan(1000);
    }

    private static String randomAuthority(Random random) {
        StringBuilder text = new StringBuilder();
        boolean six = random.nextBoolean();
        String alphabet = six ? "0:1:f:2.:ab" : "0123456789.x.a.";
        int length = 1 + random.nextInt(six ? 20 : 12);
        if (six && random.nextInt(3) > 0) {
            int groups = 1 + random.nextInt(8);
            for (int i = 0; i < groups; i++) {
                text.append(i == 0 ? "" : random.nextInt(5) == 0 ? "::" : ":");
                text.append(Integer.toHexString(random.nextInt(random.nextBoolean() ? 0x10000 : 2)));
            }
            if (random.nextInt(4) == 0) {
                text.append(":10.").append(random.nextInt(300)).append(".0.").append(random.nextInt(20));
            }
        } else {
            for (int i = 0; i < length; i++) {
                text.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
        }
        return (six ? "[" + text + "]" : text) + ":" + (1 + random.nextInt(65535));
    }
}
