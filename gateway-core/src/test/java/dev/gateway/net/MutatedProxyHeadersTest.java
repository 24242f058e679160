package dev.gateway.net;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.format.CidrSet;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.ByteArrayOutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Headers of the PROXY protocol with bytes changed at random: each is read to some end, however it is cut. */
class MutatedProxyHeadersTest {
    private static final int MUTATIONS = 5_000;

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static byte[] version2(int family, int... addresses) {
        ByteArrayOutputStream header = new ByteArrayOutputStream();
        header.writeBytes(ascii("\r\n\r\n\0\r\nQUIT\n"));
        header.write(0x21);
        header.write(family);
        header.write(0);
        header.write(addresses.length);
        for (int each : addresses) {
            header.write(each);
        }
        header.writeBytes(ascii("GET / HTTP/1.1\r\n\r\n"));
        return header.toByteArray();
    }

    @Test
    void eachIsReadToSomeEndHoweverItIsCut() {
        List<byte[]> real = List.of(
                ascii("PROXY TCP4 203.0.113.7 198.51.100.1 5555 443\r\nGET / HTTP/1.1\r\n\r\n"),
                ascii("PROXY TCP6 2001:db8::7 2001:db8::1 5555 443\r\nGET / HTTP/1.1\r\n\r\n"),
                ascii("PROXY UNKNOWN\r\nGET / HTTP/1.1\r\n\r\n"),
                version2(0x11, 203, 0, 113, 9, 198, 51, 100, 2, 0x12, 0x34, 1, 0xBB),
                version2(0x11, 203, 0, 113, 9, 198, 51, 100, 2, 0x12, 0x34, 1, 0xBB, 4, 0, 1, 0),
                version2(0x11, 203, 0, 113, 9, 198, 51, 100, 2, 0x12, 0x34, 1, 0xBB, 3, 0, 4, 1, 2, 3, 4));
        Random random = new Random(7);
        int told = 0;
        for (int i = 0; i < MUTATIONS; i++) {
            byte[] bytes = real.get(random.nextInt(real.size())).clone();
            for (int j = random.nextInt(3); j > 0; j--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            String whole = outcome(bytes, bytes.length);
            assertThat(outcome(bytes, 1 + random.nextInt(9)))
                    .as(Arrays.toString(bytes))
                    .isEqualTo(whole);
            told += whole.startsWith("refused") ? 0 : 1;
        }
        assertThat(told).as("some are still headers").isBetween(MUTATIONS / 10, MUTATIONS);
    }

    private static String outcome(byte[] bytes, int step) {
        StringBuilder outcome = new StringBuilder();
        EmbeddedChannel channel = new EmbeddedChannel();
        new ProxyProtocol(CidrSet.EMPTY, 0).expect(channel.pipeline(), new ProxyProtocol.Callback() {
            @Override
            public void onAddresses(
                    Channel channel, @Nullable InetSocketAddress peer, @Nullable InetSocketAddress local) {
                outcome.append(peer).append(' ').append(local).append(": ");
                channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object message) {
                        ByteBuf data = (ByteBuf) message;
                        outcome.append(data.toString(StandardCharsets.ISO_8859_1));
                        data.release();
                    }
                });
            }

            @Override
            public void onRefused(Channel channel, String detail) {
                outcome.append("refused");
                channel.close();
            }
        });
        for (int from = 0; from < bytes.length && channel.isOpen(); from += step) {
            channel.writeInbound(Unpooled.copiedBuffer(bytes, from, Math.min(step, bytes.length - from)));
        }
        channel.finishAndReleaseAll();
        return outcome.toString();
    }
}
