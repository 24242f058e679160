package dev.gateway.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.haproxy.HAProxyMessage;
import io.netty.handler.codec.haproxy.HAProxyMessageDecoder;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProxyHeaderTest {
    private static final String SIGNATURE = "0d0a0d0a000d0a515549540a";

    private static @Nullable InetSocketAddress address(@Nullable String host, int port) {
        return host == null ? null : new InetSocketAddress(host, port);
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "192.0.2.7,    198.51.100.1, PROXY TCP4 192.0.2.7 198.51.100.1 4711 443",
                "2001:db8::7,  2001:db8::1,  PROXY TCP6 2001:db8::7 2001:db8::1 4711 443",
                "2001:db8::7,  198.51.100.1, PROXY TCP6 2001:db8::7 ::ffff:198.51.100.1 4711 443",
                "-,            -,            PROXY UNKNOWN",
                "-,            198.51.100.1, PROXY UNKNOWN",
                "192.0.2.7,    -,            PROXY UNKNOWN"
            })
    void version1IsALine(@Nullable String client, @Nullable String local, String line) {
        ByteBuf header = ProxyHeader.version1(address(client, 4711), address(local, 443));
        assertThat(header.toString(StandardCharsets.US_ASCII)).isEqualTo(line + "\r\n");
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "192.0.2.7, 198.51.100.1, 2111000cc0000207c6336401126701bb",
                "2001:db8::7, 2001:db8::1, "
                        + "2121002420010db800000000000000000000000720010db8000000000000000000000001126701bb",
                "192.0.2.7, 2001:db8::1, "
                        + "2121002400000000000000000000ffffc000020720010db8000000000000000000000001126701bb",
                "-, -, 20000000"
            })
    void version2IsBinary(@Nullable String client, @Nullable String local, String hex) {
        ByteBuf header = ProxyHeader.version2(address(client, 4711), address(local, 443));
        assertThat(ByteBufUtil.hexDump(header)).isEqualTo(SIGNATURE + hex);
    }

    @Test
    void anotherImplementationReadsBoth() {
        for (ByteBuf header : new ByteBuf[] {
            ProxyHeader.version1(address("2001:db8::7", 4711), address("198.51.100.1", 443)),
            ProxyHeader.version2(address("2001:db8::7", 4711), address("198.51.100.1", 443))
        }) {
            EmbeddedChannel channel = new EmbeddedChannel(new HAProxyMessageDecoder());
            channel.writeInbound(header);
            HAProxyMessage message = channel.readInbound();
            assertThat(message.sourceAddress()).isIn("2001:db8::7", "2001:db8:0:0:0:0:0:7");
            assertThat(message.sourcePort()).isEqualTo(4711);
            assertThat(message.destinationPort()).isEqualTo(443);
            message.release();
            channel.finish();
        }
    }
}
