package dev.gateway.net;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.format.Cidr;
import dev.gateway.format.CidrSet;
import dev.gateway.net.transport.Transport;
import dev.gateway.net.transport.TransportKind;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@SuppressWarnings("NullAway.Init") // fields that JUnit and each test set
class ProxyProtocolTest {
    private static final byte[] SIGNATURE = {13, 10, 13, 10, 0, 13, 10, 'Q', 'U', 'I', 'T', 10};
    private static Transport transport;

    private final BlockingQueue<String> told = new LinkedBlockingQueue<>();
    private Channel server;

    @BeforeAll
    static void start() {
        transport = Transport.start(TransportKind.EPOLL, 1);
    }

    @AfterAll
    static void stop() throws Exception {
        transport.stop().sync();
    }

    @AfterEach
    void close() throws Exception {
        server.close().sync();
    }

    @Test
    void aTrustedPeerTellsTheClientInVersion1() throws Exception {
        serve("127.0.0.0/8", 10_000);
        try (Socket socket = connect()) {
            send(socket, "PROXY TCP4 203.0.113.7 198.51.100.1 5555 443\r\nhello");
            assertThat(next()).isEqualTo("/203.0.113.7:5555 -> /198.51.100.1:443");
            assertThat(next()).isEqualTo("data hello");
        }
    }

    @Test
    void aHeaderMayComeByteByByte() throws Exception {
        serve("127.0.0.0/8", 10_000);
        try (Socket socket = connect()) {
            socket.setTcpNoDelay(true);
            for (char c : "PROXY TCP6 2001:db8::7 2001:db8::1 5555 443\r\nx".toCharArray()) {
                send(socket, String.valueOf(c));
            }
            assertThat(next()).isEqualTo("/[2001:db8:0:0:0:0:0:7]:5555 -> /[2001:db8:0:0:0:0:0:1]:443");
            assertThat(next()).isEqualTo("data x");
        }
    }

    @Test
    void aTrustedPeerTellsTheClientInVersion2() throws Exception {
        serve("127.0.0.0/8", 10_000);
        try (Socket socket = connect()) {
            ByteArrayOutputStream header = new ByteArrayOutputStream();
            header.writeBytes(SIGNATURE);
            header.writeBytes(new byte[] {
                0x21, 0x11, 0, 12, (byte) 203, 0, 113, 9, (byte) 198, 51, 100, 2, 0x12, 0x34, 1, (byte) 0xBB
            });
            header.writeBytes("hello".getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().write(header.toByteArray());
            assertThat(next()).isEqualTo("/203.0.113.9:4660 -> /198.51.100.2:443");
            assertThat(next()).isEqualTo("data hello");
        }
    }

    /** HAProxy sends a checksum with {@code proxy-v2-options crc32c}. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "a checksum that fits | 0 | /203.0.113.9:4660 -> /198.51.100.2:443",
                "a changed checksum | 31 | refused the checksum is wrong",
                "a changed address | 17 | refused the checksum is wrong",
                "a changed byte behind the checksum | 38 | refused the checksum is wrong",
                "a checksum of another length | 30 | refused the checksum is wrong",
                "a command that has no client | 12 | /127.0.0.1:",
            })
    void aHeaderWithAWrongChecksumIsRefused(String what, int changed, String expected) throws Exception {
        ByteArrayOutputStream made = new ByteArrayOutputStream();
        made.writeBytes(SIGNATURE);
        made.writeBytes(
                new byte[] {0x21, 0x11, 0, 24, (byte) 203, 0, 113, 9, (byte) 198, 51, 100, 2, 0x12, 0x34, 1, (byte) 0xBB
                });
        made.writeBytes(new byte[] {3, 0, 4, 0, 0, 0, 0, 5, 0, 2, 'i', 'd'});
        byte[] header = made.toByteArray();
        CRC32C sum = new CRC32C();
        sum.update(header);
        ByteBuffer.wrap(header).putInt(31, (int) sum.getValue());
        header[changed] = (byte) (header[changed] ^ (changed == 0 ? 0 : 1));
        serve("127.0.0.0/8", 10_000);
        for (int first : new int[] {header.length, 20}) { // whole, and in two parts
            try (Socket socket = connect()) {
                socket.setTcpNoDelay(true);
                socket.getOutputStream().write(header, 0, first);
                socket.getOutputStream().write(header, first, header.length - first);
                send(socket, "hello");
                assertThat(next()).as(what).startsWith(expected);
                if (expected.startsWith("refused")) {
                    assertClosed(socket);
                } else {
                    assertThat(next()).isEqualTo("data hello");
                }
            }
        }
        assertThat(told).isEmpty();
    }

    /** Caddy writes zeros for what it does not know. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "PROXY TCP4 203.0.113.7 0.0.0.0 0 0\r\n",
                "\r\n\r\n\0\r\nQUIT\n!\u0011\0\u000C\u00CB\0q\u0007\0\0\0\0\0\0\0\0"
            })
    void aPortOf0IsUnknown(String header) throws Exception {
        serve("127.0.0.0/8", 10_000);
        try (Socket socket = connect()) {
            socket.getOutputStream().write(header.getBytes(StandardCharsets.ISO_8859_1));
            send(socket, "hello");
            // The address that the client connected to is unknown, too: the listener's own stands for it.
            assertThat(next()).isEqualTo("/203.0.113.7:0 -> " + server.localAddress());
            assertThat(next()).isEqualTo("data hello");
        }
    }

    @Test
    void theProxysOwnConnectionsKeepTheirAddress() throws Exception {
        serve("127.0.0.0/8", 10_000);
        for (String unknown : List.of("PROXY UNKNOWN\r\n", "v2 local")) {
            try (Socket socket = connect()) {
                if (unknown.equals("v2 local")) {
                    ByteArrayOutputStream header = new ByteArrayOutputStream();
                    header.writeBytes(SIGNATURE);
                    header.writeBytes(new byte[] {0x20, 0, 0, 0});
                    socket.getOutputStream().write(header.toByteArray());
                } else {
                    send(socket, unknown);
                }
                assertThat(next()).startsWith("/127.0.0.1:" + socket.getLocalPort());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
                "PROXY TCP4 203.0.113.7 198.51.100.1 5555 99999\r\n",
                "PROXY TCP4 203.0.113.7 198.51.100.1 5555 +443\r\n",
                "PROXY TCP4 203.0.113.7 198.51.100.1 5555 \r\n",
                "PROXY UDP4 203.0.113.7 198.51.100.1 5555 443\r\n",
                "PROXY TCP4 203.0.113.700 198.51.100.1 5555 443\r\n",
                "PROXY TCP4 2001:db8::7 198.51.100.1 5555 443\r\n",
                "PROXY TCP4 203.0.113.7\r\nxxxxxxxxxx",
                "PROXY TCP4 203.0.113.7 198.51.100.1 5555 443 and a header that is far too long to be one, because the"
                        + " longest of version one has one hundred and seven bytes with its line end"
            })
    void aTrustedPeerThatSendsSomethingElseIsClosed(String text) throws Exception {
        serve("127.0.0.0/8", 10_000);
        try (Socket socket = connect()) {
            send(socket, text);
            assertClosed(socket);
            assertThat(next()).startsWith("refused ");
        }
        assertThat(told).isEmpty();
    }

    @Test
    void aTrustedPeerThatSaysNothingIsClosedInTime() throws Exception {
        serve("127.0.0.0/8", 50);
        try (Socket socket = connect()) {
            send(socket, "PROXY TCP4");
            assertClosed(socket);
            assertThat(next()).isEqualTo("refused no PROXY protocol header in time");
        }
    }

    @Test
    void anotherPeerIsServedAsItIs() throws Exception {
        serve("10.0.0.0/8", 10_000);
        for (String text : List.of("hello", "P", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")) {
            try (Socket socket = connect()) {
                socket.setTcpNoDelay(true);
                send(socket, text.substring(0, 1));
                send(socket, text.substring(1) + "!");
                assertThat(next()).startsWith("/127.0.0.1:" + socket.getLocalPort());
                StringBuilder all = new StringBuilder();
                while (all.length() < text.length() + 1) {
                    all.append(next().substring("data ".length()));
                }
                assertThat(all.toString()).isEqualTo(text + "!");
            }
        }
    }

    @Test
    void anotherPeerThatSendsAHeaderIsRefused() throws Exception {
        serve("10.0.0.0/8", 10_000);
        for (byte[] header : List.of(
                "PROXY TCP4 203.0.113.7 198.51.100.1 5555 443\r\n".getBytes(StandardCharsets.US_ASCII), SIGNATURE)) {
            try (Socket socket = connect()) {
                socket.getOutputStream().write(header);
                assertClosed(socket);
                assertThat(next()).isEqualTo("refused PROXY protocol header from a peer that is not trusted");
            }
        }
        assertThat(told).isEmpty();
    }

    private void serve(String trusted, long timeoutMillis) throws InterruptedException {
        CidrSet set = CidrSet.of(List.of(Objects.requireNonNull(Cidr.parse(trusted))));
        ProxyProtocol protocol = new ProxyProtocol(set, timeoutMillis);
        ServerBootstrap bootstrap = transport.server(
                transport.loops().get(0),
                transport.group(),
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                16,
                false);
        server = bootstrap
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        protocol.expect(channel.pipeline(), new Recorder());
                    }
                })
                .bind()
                .sync()
                .channel();
    }

    private final class Recorder implements ProxyProtocol.Callback {
        @Override
        public void onAddresses(Channel channel, @Nullable InetSocketAddress peer, @Nullable InetSocketAddress local) {
            told.add(peer + " -> " + local);
            channel.pipeline().addLast(new SimpleChannelInboundHandler<ByteBuf>() {
                @Override
                protected void channelRead0(ChannelHandlerContext ctx, ByteBuf data) {
                    told.add("data " + data.toString(StandardCharsets.US_ASCII));
                }

                @Override
                public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                    ctx.close();
                }
            });
        }

        @Override
        public void onRefused(Channel channel, String detail) {
            told.add("refused " + detail);
        }
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket();
        socket.connect(server.localAddress());
        socket.setSoTimeout(10_000);
        return socket;
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static void assertClosed(Socket socket) {
        try {
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("reset"); // unread data turns a close into a reset
        }
    }

    private String next() throws InterruptedException {
        return Objects.requireNonNull(told.poll(10, TimeUnit.SECONDS), "nothing happened");
    }
}
