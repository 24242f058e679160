package dev.gateway.protocol.http1;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.message.ResponseHead;
import dev.gateway.net.ParentHandshake;
import dev.gateway.stream.Cause;
import dev.gateway.testing.Buffers;
import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What an HTTP proxy may answer to a wish for a tunnel, and what comes of it. */
@SuppressWarnings("StringConcatToTextBlock") // the line ends matter
class ConnectHandshakeTest {
    private final List<String> outcomes = new ArrayList<>();
    private final EmbeddedChannel channel = new EmbeddedChannel();

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

    private void ask(String credentials) {
        ask("", credentials);
    }

    private void ask(String via, String credentials) {
        channel.pipeline()
                .addLast(new ConnectHandshake("a.test:443", via, credentials.isEmpty() ? null : credentials, outcome));
    }

    private void answer(String bytes) {
        channel.writeInbound(Buffers.of(bytes));
    }

    private String passed() {
        StringBuilder text = new StringBuilder();
        for (ByteBuf buffer = channel.readInbound(); buffer != null; buffer = channel.readInbound()) {
            text.append(buffer.toString(StandardCharsets.ISO_8859_1));
            buffer.release();
        }
        return text.toString();
    }

    private String sent() {
        ByteBuf buffer = channel.readOutbound();
        String text = buffer.toString(StandardCharsets.ISO_8859_1);
        buffer.release();
        return text;
    }

    @Test
    void theProxyIsToldTheDestinationAndWhoWeAre() {
        ask("");
        assertThat(sent()).isEqualTo("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n");
        channel.pipeline().removeFirst();
        ask("Basic YTpi");
        assertThat(sent())
                .isEqualTo("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n"
                        + "Proxy-Authorization: Basic YTpi\r\n\r\n");
        channel.pipeline().removeFirst();
        ask("2.0 b, 1.1 c", "");
        assertThat(sent()).isEqualTo("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\nVia: 2.0 b, 1.1 c\r\n\r\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 200 OK\r\n\r\n",
                "HTTP/1.0 200 Connection established\r\nProxy-agent: tinyproxy/1.11.1\r\n\r\n",
                "HTTP/1.1 204\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
            })
    void whatTheOtherEndHasSentAheadIsPassedOn(String head) {
        ask("");
        answer(head + "early");
        assertThat(outcomes).containsExactly("agreed");
        assertThat(channel.pipeline().get(ConnectHandshake.class)).isNull();
        assertThat(passed()).isEqualTo("early");
        answer("later");
        assertThat(passed()).isEqualTo("later");
    }

    @Test
    void anAnswerMayComeByteByByte() {
        ask("");
        for (char each : "HTTP/1.1 200 OK\r\nVia: 1.1 x\r\n\r\nearly".toCharArray()) {
            answer(String.valueOf(each));
        }
        assertThat(outcomes).containsExactly("agreed");
        assertThat(passed()).isEqualTo("early");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "403 Filtered|connect_failed: answered 403 Filtered",
                "407 Proxy Authentication Required|connect_failed: answered 407 Proxy Authentication Required",
                "500 Unable to connect|connect_failed: answered 500 Unable to connect",
                "502|connect_failed: answered 502",
                "504 Gateway Timeout|connect_timeout: answered 504 Gateway Timeout",
                "302 Found|connect_failed: answered 302 Found",
                "101 Switching Protocols|upstream_protocol_error: 101 without an upgrade",
            })
    void aRefusalIsToldAsItIs(String status, String told) {
        ask("Basic YTpvcGVuIHNlc2FtZQ==");
        answer("HTTP/1.1 " + status + "\r\nContent-Length: 4\r\n\r\nbody");
        answer("more");
        assertThat(outcomes).containsExactly(told);
        assertThat(passed()).isEmpty();
    }

    @Test
    void whyAnotherGatewayRefusesIsTold() {
        ask("");
        answer("HTTP/1.1 502 Bad\u0000 Gate\u00e4\r\nProxy-Status: far;error=dns_error\r\n\r\n");
        assertThat(outcomes).hasSize(1);
        assertThat(outcomes.get(0)).startsWith("upstream_protocol_error");
        outcomes.clear();
        channel.pipeline().removeFirst();
        ask("");
        answer("HTTP/1.1 502 Bad Gate\u00e4\r\nProxy-Status: far;error=dns_error\r\n\r\n");
        assertThat(outcomes)
                .containsExactly("connect_failed: answered 502 Bad Gate?, Proxy-Status far;error=dns_error");
    }

    @Test
    void credentialsThatTheProxyRepeatsAreNotShown() {
        ask("Basic c2VjcmV0OnNlY3JldA==");
        answer(
                "HTTP/1.1 407 not c2VjcmV0OnNlY3JldA==\r\nProxy-Status: x;details=\"Basic c2VjcmV0OnNlY3JldA==\"\r\n\r\n");
        assertThat(outcomes).containsExactly("connect_failed: answered 407");
    }

    @Test
    void aPasswordThatTheProxyRepeatsInClearIsNotShown() {
        ask("Basic YTpvcGVuIHPDqXNhbWU="); // a:open s\u00e9same
        answer(
                "HTTP/1.1 407 'a' with 'open s\u00c3\u00a9same'\r\nProxy-Status: x;details=\"a:open s\u00c3\u00a9same\"\r\n\r\n");
        assertThat(outcomes).containsExactly("connect_failed: answered 407");
    }

    @Test
    void aLongReasonIsCut() {
        ask("");
        answer("HTTP/1.1 500 " + "x".repeat(5000) + "\r\n\r\n");
        assertThat(outcomes).containsExactly("connect_failed: answered 500 " + "x".repeat(120));
    }

    @Test
    void aReasonThatIsNotLongIsShownAsItIs() {
        ask("");
        answer("HTTP/1.1 500 " + "x".repeat(119) + "~\r\n\r\n");
        assertThat(outcomes).containsExactly("connect_failed: answered 500 " + "x".repeat(119) + "~");
    }

    @Test
    void asManyInterimAnswersAsMayComeAreRead() {
        ask("");
        answer("HTTP/1.1 100 Continue\r\n\r\n".repeat(ResponseHead.MAX_INTERIM) + "HTTP/1.1 200 OK\r\n\r\nearly");
        assertThat(outcomes).containsExactly("agreed");
        assertThat(passed()).isEqualTo("early");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SSH-2.0-OpenSSH_9.2\r\n",
                "\u0005\u0001",
                "HTTP/2 200 OK\r\n\r\n",
                "\nHTTP/1.1 200 OK\n\n",
                "HTTP/1.1 2000 OK\r\n\r\n",
                "HTTP/1.1 200 OK\r\n: x\r\n\r\n",
                "220 mail.test ESMTP\r\n",
            })
    void whatIsNoAnswerIsSaidToBeNone(String bytes) {
        ask("");
        answer(bytes + "x".repeat(3));
        answer("\r\n\r\n");
        assertThat(outcomes).hasSize(1);
        assertThat(outcomes.get(0)).startsWith("upstream_protocol_error: ");
        assertThat(passed()).isEmpty();
    }

    @Test
    void aHeadWithoutEndIsNotCollectedForEver() {
        ask("");
        answer("HTTP/1.1 200 OK\r\n");
        String line = "X-Filler: " + "x".repeat(1000) + "\r\n";
        int lines = 0;
        for (; outcomes.isEmpty() && lines < 200; lines++) {
            answer(line);
        }
        assertThat(lines).isLessThan(70);
        assertThat(outcomes).containsExactly("upstream_protocol_error: the fields are too large");
    }

    @Test
    void interimAnswersWithoutEndAreNotReadForEver() {
        ask("");
        for (int i = 0; i < 1000 && outcomes.isEmpty(); i++) {
            answer("HTTP/1.1 100 Continue\r\n\r\n");
        }
        assertThat(outcomes).containsExactly("upstream_protocol_error: too many interim responses");
    }

    @Test
    void noiseEndsInOneRefusalOrInNone() {
        Random random = new Random(11);
        for (int i = 0; i < 300; i++) {
            outcomes.clear();
            ask("");
            byte[] noise = new byte[random.nextInt(200)];
            random.nextBytes(noise);
            channel.writeInbound(Buffers.of(noise));
            assertThat(outcomes).hasSizeLessThan(2).doesNotContain("agreed");
            channel.pipeline().removeFirst();
        }
    }

    @Test
    void aProxyThatClosesInsteadHasRefused() {
        ask("");
        answer("HTTP/1.1 200 O");
        channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        channel.close();
        assertThat(outcomes).containsExactly("connect_failed: closed the connection instead of answering");
    }
}
