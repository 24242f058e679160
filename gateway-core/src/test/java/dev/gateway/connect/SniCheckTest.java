package dev.gateway.connect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.ConnectConfig.Sni;
import dev.gateway.filter.BodyInspector;
import dev.gateway.filter.FakeContext;
import dev.gateway.message.Heads;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SniCheckTest {
    private final ConnectTally tally = new ConnectTally();
    private final FakeContext context = FakeContext.from("192.0.2.9");

    /** The least that is a ClientHello. */
    private static byte[] hello(@Nullable String serverName) {
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        message.writeBytes(new byte[] {3, 3});
        message.writeBytes(new byte[32]);
        message.writeBytes(new byte[] {0, 0, 2, 0x13, 1, 1, 0});
        if (serverName != null) {
            byte[] name = serverName.getBytes(StandardCharsets.ISO_8859_1);
            message.writeBytes(new byte[] {0, (byte) (name.length + 9), 0, 0, 0, (byte) (name.length + 5)});
            message.writeBytes(new byte[] {0, (byte) (name.length + 3), 0, 0, (byte) name.length});
            message.writeBytes(name);
        }
        int length = message.size();
        ByteArrayOutputStream record = new ByteArrayOutputStream();
        record.writeBytes(new byte[] {22, 3, 1, 0, (byte) (length + 4), 1, 0, 0, (byte) length});
        record.writeBytes(message.toByteArray());
        return record.toByteArray();
    }

    private @Nullable BodyInspector inspector(Sni mode, boolean audit, String method, String authority) {
        List<HostRule> allow = Rules.allow("*", "Nexus", ".registry", "a.example");
        Policies policies = Rules.only(Rules.policy("egress", allow, List.of(), mode, 0));
        return new SniCheck(policies, tally, audit).inspector(Heads.request(method, authority, ""), context);
    }

    private BodyInspector inspector(Sni mode, boolean audit, String authority) {
        return Objects.requireNonNull(inspector(mode, audit, "CONNECT", authority));
    }

    private static BodyInspector.Result inspect(BodyInspector inspector, byte[] bytes, boolean last) {
        ByteBuf buffer = Unpooled.wrappedBuffer(bytes);
        BodyInspector.Result result = inspector.inspect(buffer, last);
        assertThat(buffer.readableBytes()).isEqualTo(bytes.length);
        assertThat(buffer.refCnt()).isEqualTo(1);
        return result;
    }

    private static Failure failure(BodyInspector.Result result) {
        assertThat(result).isInstanceOf(BodyInspector.Refuse.class);
        return ((BodyInspector.Refuse) result).failure();
    }

    private List<String> denials() {
        List<String> all = new ArrayList<>();
        tally.forEachDenial((labels, count) -> all.add(labels.listener() + " " + labels.rule() + " " + count));
        return all;
    }

    @ParameterizedTest
    @CsvSource({
        "a.example:443, a.example",
        "A.Example:443, a.example",
        "a.example:443, A.EXAMPLE",
        "a.example.:443, a.example",
        "a.example:443, a.example.",
        "192.0.2.1:443,",
        "192.0.2.1:443, 192.0.2.1",
        "[2001:db8::1]:443,",
        "nexus:443,",
        "nexus:443, nexus",
        "NEXUS.:443,",
    })
    void aTunnelWhoseClientAsksForItsHostPasses(String authority, @Nullable String serverName) {
        assertThat(inspect(inspector(Sni.MUST_MATCH, false, authority), hello(serverName), false))
                .isSameAs(BodyInspector.PASS);
        assertThat(denials()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "a.example:443, b.example",
        "a.example:443, x.a.example",
        "a.example:443, a.example.evil",
        "a.example:443,",
        "nexus:443, a.example",
        "registry:443,",
        "other:443,",
        "192.0.2.1:443, a.example",
        "192.0.2.1:443, 192.0.2.2",
        "a.example:8443, b.example",
    })
    void aTunnelWhoseClientAsksForAnotherHostIsRefused(String authority, @Nullable String serverName) {
        Failure failure = failure(inspect(inspector(Sni.MUST_MATCH, false, authority), hello(serverName), false));

        assertThat(failure.cause()).isEqualTo(Cause.POLICY_SNI);
        assertThat(failure.status()).isEqualTo(403);
        assertThat(failure.detail()).startsWith(authority + ": a ClientHello ");
        assertThat(denials()).containsExactly("egress sni 1");
    }

    /** Logs show what the check says: a client must not be able to write there whatever it likes. */
    @ParameterizedTest
    @ValueSource(
            strings = {"a\nexample", "a example", "a\u0000.example", "a\u001b[2J", "a\u007f", "\u00e4.example", "\u00ff"
            })
    void aServerNameThatIsNoneIsNeverShown(String serverName) {
        Failure failure = failure(inspect(inspector(Sni.MUST_MATCH, false, "a.example:443"), hello(serverName), false));

        assertThat(failure.detail()).isEqualTo("a.example:443: a ClientHello for a server name that is not valid");
        assertThat(context.tunnelServerName).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET / HTTP/1.1\r\n\r\n", "SSH-2.0-x\r\n", "\u0005"})
    void whatIsNotTlsIsRefusedWhereItMustMatch(String first) {
        byte[] bytes = first.getBytes(StandardCharsets.US_ASCII);

        assertThat(failure(inspect(inspector(Sni.MUST_MATCH, false, "a.example:443"), bytes, false))
                        .detail())
                .isEqualTo("a.example:443: not TLS");
        assertThat(inspect(inspector(Sni.LOG, false, "a.example:443"), bytes, false))
                .isSameAs(BodyInspector.PASS);
    }

    @ParameterizedTest
    @CsvSource({"LOG, a.example", "LOG, B.Example", "LOG,", "MUST_MATCH, a.example", "MUST_MATCH, b.example"})
    void whatIsAskedForIsToldWhetherItMatchesOrNot(Sni mode, @Nullable String serverName) {
        byte[] hello = hello(serverName);
        BodyInspector inspector = inspector(mode, false, "a.example:443");
        inspect(inspector, Arrays.copyOf(hello, hello.length - 1), false);
        assertThat(context.tunnelServerName).isNull();
        inspect(inspector, hello, false);
        assertThat(context.tunnelServerName).isEqualTo(serverName == null ? null : serverName.toLowerCase(Locale.ROOT));
    }

    @Test
    void aHelloIsWaitedForUntilItIsWhole() {
        byte[] hello = hello("a.example");
        BodyInspector inspector = inspector(Sni.MUST_MATCH, false, "a.example:443");
        for (int i = 0; i < hello.length; i++) {
            assertThat(inspect(inspector, Arrays.copyOf(hello, i), false)).isSameAs(BodyInspector.MORE);
        }
        assertThat(inspect(inspector, hello, false)).isSameAs(BodyInspector.PASS);
    }

    @Test
    void aClientThatEndsBeforeItsHelloIsRefused() {
        assertThat(failure(inspect(inspector(Sni.MUST_MATCH, false, "a.example:443"), new byte[0], true))
                        .cause())
                .isEqualTo(Cause.POLICY_SNI);
        assertThat(inspect(inspector(Sni.LOG, false, "a.example:443"), new byte[] {22}, true))
                .isSameAs(BodyInspector.PASS);
    }

    @Test
    void inAuditModeAMismatchIsCountedAndPasses() {
        assertThat(inspect(inspector(Sni.MUST_MATCH, true, "a.example:443"), hello("b.example"), false))
                .isSameAs(BodyInspector.PASS);
        assertThat(denials()).containsExactly("egress sni 1");
    }

    @Test
    void whereItIsOnlyLoggedNothingIsCounted() {
        assertThat(inspect(inspector(Sni.LOG, false, "a.example:443"), hello("b.example"), false))
                .isSameAs(BodyInspector.PASS);
        assertThat(denials()).isEmpty();
    }

    @Test
    void nobodyLooksWhereItIsOffOrNoTunnel() {
        assertThat(inspector(Sni.OFF, false, "CONNECT", "a.example:443")).isNull();
        assertThat(inspector(Sni.MUST_MATCH, false, "GET", "a.example:443")).isNull();
    }
}
