package dev.gateway.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gateway.format.Cidr;
import dev.gateway.format.CidrSet;
import dev.gateway.testing.CountedMemory;
import dev.gateway.testing.FuzzInput;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The beginning of a connection whose peer may send a header of the PROXY protocol. The first control byte says whether the
 * peer is trusted (0) or not (1). Then follows how the bytes are cut.
 */
final class ProxyHeaderFuzz {
    private static final InetSocketAddress PEER = address("192.0.2.1", 1);
    private static final InetSocketAddress OURS = address("192.0.2.2", 2);

    private static final CidrSet PEERS = CidrSet.of(List.of(Objects.requireNonNull(Cidr.parse("192.0.2.0/24"))));

    /** What a header may have: that of version 2, with Netty's bound for its additions. */
    private static final int MOST_HELD = 2 * (16 + 216 + 4096);

    private ProxyHeaderFuzz() {}

    private static InetSocketAddress address(String ip, int port) {
        try {
            return new InetSocketAddress(InetAddress.getByName(ip), port);
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void fuzzerTestOneInput(byte[] bytes) {
        FuzzInput input = new FuzzInput(bytes);
        boolean trusted = (input.control() & 1) == 0;
        FuzzInput.Cut cut = input.cut();
        byte[] sent = input.rest();
        Connection whole = new Connection(trusted, List.of(sent));
        Connection pieces = new Connection(trusted, cut.pieces(sent));
        assertEquals(whole.outcome(), pieces.outcome());
        if (!trusted) {
            checkUntrusted(whole, sent);
        } else if (whole.told) {
            checkTold(whole, sent);
        }
    }

    /** A peer that is not trusted may send anything but a header, and nothing of it is lost. */
    private static void checkUntrusted(Connection connection, byte[] sent) {
        String text = new String(sent, StandardCharsets.ISO_8859_1);
        if (text.startsWith("PROXY ") || text.startsWith("\r\n\r\n\0\r\nQUIT\n")) {
            assertTrue(connection.refused);
        } else if (!"PROXY ".startsWith(text) && !"\r\n\r\n\0\r\nQUIT\n".startsWith(text)) {
            assertTrue(connection.told);
            assertEquals(PEER, connection.peer);
            assertEquals(text, connection.data());
        }
    }

    /** What is told comes again if we tell it, and what follows the header is untouched. */
    private static void checkTold(Connection connection, byte[] sent) {
        String text = new String(sent, StandardCharsets.ISO_8859_1);
        assertTrue(text.endsWith(connection.data()));
        String header = text.substring(0, text.length() - connection.data().length());
        if (header.startsWith("PROXY ")) {
            assertTrue(header.endsWith("\r\n") && header.length() <= 107, header);
        } else {
            assertEquals(16 + (header.charAt(14) << 8 | header.charAt(15)), header.length());
        }
        InetSocketAddress peer = connection.peer;
        InetSocketAddress local = connection.local;
        if (peer != null && local != null) {
            for (ByteBuf again : List.of(ProxyHeader.version1(peer, local), ProxyHeader.version2(peer, local))) {
                byte[] written = ByteBufUtil.getBytes(again);
                again.release();
                Connection second = new Connection(true, List.of(written));
                assertTrue(second.told);
                assertEquals("", second.data());
                assertEquals(mapped(peer), mapped(second.peer));
                assertEquals(mapped(local), mapped(second.local));
            }
        }
    }

    /** Java makes an IPv4 address of one that is mapped into IPv6, or not, as it came. */
    private static String mapped(@Nullable SocketAddress address) {
        return String.valueOf(address).toLowerCase(Locale.ROOT);
    }

    private static final class Connection {
        final ByteArrayOutputStream passed = new ByteArrayOutputStream();
        boolean told;
        boolean refused;

        @Nullable
        InetSocketAddress peer;

        @Nullable
        InetSocketAddress local;

        Connection(boolean trusted, List<byte[]> pieces) {
            EmbeddedChannel channel = new EmbeddedChannel() {
                @Override
                protected SocketAddress remoteAddress0() {
                    return isActive() ? PEER : super.remoteAddress0();
                }

                @Override
                protected SocketAddress localAddress0() {
                    return isActive() ? OURS : super.localAddress0();
                }
            };
            CountedMemory memory = new CountedMemory(channel);
            new ProxyProtocol(trusted ? PEERS : CidrSet.EMPTY, 0).expect(channel.pipeline(), callback());
            for (byte[] piece : pieces) {
                if (channel.isOpen()) {
                    channel.writeInbound(memory.of(piece));
                    long held = memory.held();
                    assertTrue(held <= MOST_HELD + piece.length, () -> held + " bytes held");
                }
            }
            channel.finishAndReleaseAll();
            memory.assertNothingLeft();
        }

        private ProxyProtocol.Callback callback() {
            return new ProxyProtocol.Callback() {
                @Override
                public void onAddresses(
                        Channel channel, @Nullable InetSocketAddress toldPeer, @Nullable InetSocketAddress toldLocal) {
                    assertTrue(!told && !refused);
                    told = true;
                    peer = toldPeer;
                    local = toldLocal;
                    channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelRead(ChannelHandlerContext ctx, Object message) {
                            ByteBuf data = (ByteBuf) message;
                            passed.writeBytes(ByteBufUtil.getBytes(data));
                            data.release();
                        }
                    });
                }

                @Override
                public void onRefused(Channel channel, String detail) {
                    assertTrue(!told && !refused);
                    refused = true;
                }
            };
        }

        String data() {
            return passed.toString(StandardCharsets.ISO_8859_1);
        }

        String outcome() {
            return (told ? peer + " " + local : refused ? "refused" : "nothing") + "\n" + data();
        }
    }
}
