package dev.gateway.protocol.socks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.format.AccountFile.NameAndPassword;
import dev.gateway.net.ParentHandshake;
import dev.gateway.protocol.socks.SocksHandshake.Destination;
import dev.gateway.stream.Cause;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A SOCKS conversation, byte for byte as RFC 1928 and RFC 1929 have it, and what a proxy may make of it. */
class SocksHandshakeTest {
    private static final String GRANTED = "05000001 7f000001 1f90";

    private final List<String> outcomes = new ArrayList<>();
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private boolean bytewise;

    private final ParentHandshake.Outcome outcome = new ParentHandshake.Outcome() {
        @Override
        public void onAgreed() {
            outcomes.add("agreed");
        }

        @Override
        public void onRefused(Cause cause, String detail) {
            outcomes.add(cause.label() + ": " + detail);
        }
    };

    @AfterEach
    void nothingIsLeft() {
        channel.finishAndReleaseAll();
    }

    private void ask(String host, @Nullable NameAndPassword login) {
        channel.pipeline().addLast(new SocksHandshake(new Destination(host, 443), login, outcome));
    }

    private void answer(String hex) {
        byte[] bytes = ByteBufUtil.decodeHexDump(hex.replace(" ", ""));
        if (bytewise) {
            for (byte each : bytes) {
                channel.writeInbound(Buffers.of(new byte[] {each}));
            }
        } else {
            channel.writeInbound(Buffers.of(bytes));
        }
    }

    private String sent() {
        ByteBuf buffer = channel.readOutbound();
        if (buffer == null) {
            return "nothing";
        }
        String hex = ByteBufUtil.hexDump(buffer);
        buffer.release();
        return hex;
    }

    private String passed() {
        StringBuilder text = new StringBuilder();
        for (ByteBuf buffer = channel.readInbound(); buffer != null; buffer = channel.readInbound()) {
            text.append(ByteBufUtil.hexDump(buffer));
            buffer.release();
        }
        return text.toString();
    }

    private static String hex(String text) {
        return ByteBufUtil.hexDump(text.getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @CsvSource({
        "a.test, 0306612e74657374",
        "192.0.2.7, 01c0000207",
        "2001:db8::7, 0420010db8000000000000000000000007",
    })
    void theDestinationIsLeftToTheProxy(String host, String address) {
        ask(host, null);
        assertThat(sent()).isEqualTo("050100");
        answer("0500");
        assertThat(sent()).isEqualTo("050100" + address + "01bb");
        answer(GRANTED);
        assertThat(outcomes).containsExactly("agreed");
        assertThat(channel.pipeline().get(SocksHandshake.class)).isNull();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aProxyThatWantsToKnowIsToldWhoWeAre(boolean bytewise) {
        this.bytewise = bytewise;
        ask("a.test", new NameAndPassword("gateway", "pässword"));
        assertThat(sent()).isEqualTo("05020002");
        answer("0502");
        assertThat(sent()).isEqualTo("0107" + hex("gateway") + "09" + hex("pässword"));
        answer("0100");
        assertThat(sent()).isEqualTo("05010003" + "06" + hex("a.test") + "01bb");
        answer(GRANTED);
        assertThat(outcomes).containsExactly("agreed");
    }

    @Test
    void aProxyThatDoesNotIsNot() {
        ask("a.test", new NameAndPassword("gateway", "secret"));
        sent();
        answer("0500");
        assertThat(sent()).startsWith("050100");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                GRANTED,
                "05000003 03616263 1f90",
                "05000003 00 1f90",
                "05000004 00000000000000000000000000000001 1f90"
            })
    void whatTheOtherEndHasSentAheadIsPassedOn(String granted) {
        for (boolean each : new boolean[] {false, true}) {
            bytewise = each;
            outcomes.clear();
            ask("a.test", null);
            answer("0500");
            answer(granted + "cafe");
            assertThat(outcomes).containsExactly("agreed");
            assertThat(passed()).isEqualTo("cafe");
            channel.releaseOutbound();
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "01|connect_failed: answered 1 (general failure)",
                "02|connect_failed: answered 2 (not allowed)",
                "03|connect_failed: answered 3 (network unreachable)",
                "04|connect_failed: answered 4 (host unreachable)",
                "05|connect_failed: answered 5 (connection refused)",
                "06|connect_timeout: answered 6 (TTL expired)",
                "07|connect_failed: answered 7 (command not supported)",
                "08|connect_failed: answered 8 (address type not supported)",
                "ff|connect_failed: answered 255 (unknown)",
            })
    void aRefusalIsToldAsItIs(String code, String told) {
        ask("a.test", null);
        answer("0500");
        answer("05" + code + "0001000000000000");
        answer("cafe");
        assertThat(outcomes).containsExactly(told);
        assertThat(passed()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "05ff||connect_failed: wants a name and a password",
                "0502||upstream_protocol_error: chose an authentication method that the gateway did not offer",
                "05ff|x|connect_failed: accepts no password",
                "0501|x|upstream_protocol_error: chose an authentication method that the gateway did not offer",
                "05020101|x|connect_failed: refuses our name and password",
                "05020500|x|upstream_protocol_error: does not speak SOCKS 5",
                "0400||upstream_protocol_error: does not speak SOCKS 5",
                "485454502f312e31||upstream_protocol_error: does not speak SOCKS 5",
                "050004||upstream_protocol_error: does not speak SOCKS 5",
                "05000500000900||upstream_protocol_error: answered with an address of no known kind",
            })
    void aProxyThatWillNotHaveUsOrBreaksTheRulesIsLeft(String answer, @Nullable String password, String told) {
        ask("a.test", password == null ? null : new NameAndPassword("gateway", password));
        answer(answer);
        assertThat(outcomes).containsExactly(told);
    }

    @Test
    void noiseEndsInOneRefusalOrInNone() {
        Random random = new Random(7);
        for (int i = 0; i < 500; i++) {
            outcomes.clear();
            ask("a.test", new NameAndPassword("gateway", "secret"));
            byte[] noise = new byte[1 + random.nextInt(400)];
            random.nextBytes(noise);
            if (random.nextBoolean()) {
                noise[0] = 5;
            }
            channel.writeInbound(Buffers.of(noise));
            assertThat(outcomes).hasSizeLessThan(2);
            while (channel.pipeline().get(SocksHandshake.class) != null) {
                channel.pipeline().remove(SocksHandshake.class);
            }
            channel.releaseOutbound();
            channel.releaseInbound();
        }
    }

    @Test
    void aProxyThatClosesInsteadHasRefused() {
        ask("a.test", null);
        answer("0500");
        channel.close();
        assertThat(outcomes).containsExactly("connect_failed: closed the connection instead of answering");
    }
}
