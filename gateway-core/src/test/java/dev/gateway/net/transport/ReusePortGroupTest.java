package dev.gateway.net.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ReusePortGroupTest {
    private static final int CONNECTIONS = 60;

    private static ServerSocketChannel listen(InetSocketAddress address) throws IOException {
        ServerSocketChannel socket = ServerSocketChannel.open();
        socket.setOption(StandardSocketOptions.SO_REUSEPORT, true);
        socket.bind(address, 4 * CONNECTIONS);
        socket.configureBlocking(false);
        return socket;
    }

    private static int accepted(ServerSocketChannel socket) throws IOException {
        int accepted = 0;
        for (SocketChannel next = socket.accept(); next != null; next = socket.accept()) {
            next.close();
            accepted++;
        }
        return accepted;
    }

    private static void connect(InetSocketAddress address) throws IOException {
        for (int i = 0; i < CONNECTIONS; i++) {
            new Socket(address.getAddress(), address.getPort()).close();
        }
    }

    @ParameterizedTest
    @EnumSource(names = "NIO", mode = EnumSource.Mode.EXCLUDE)
    void connectionsGoWhereTheyAreSteered(TransportKind kind) throws Exception {
        assumeTrue(kind.unavailabilityCause() == null, kind + " is not available here");
        Transport transport = Transport.start(kind, 1);
        try {
            Channel ours = transport
                    .server(
                            transport.loops().get(0),
                            transport.group(),
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                            CONNECTIONS,
                            true)
                    .option(ChannelOption.AUTO_READ, false)
                    .childHandler(new ChannelInboundHandlerAdapter())
                    .bind()
                    .syncUninterruptibly()
                    .channel();
            InetSocketAddress address = (InetSocketAddress) ours.localAddress();
            assertThat(ReusePortGroup.listening(address)).hasSize(1);
            try (ServerSocketChannel second = listen(address);
                    ServerSocketChannel third = listen(address)) {
                assertThat(ReusePortGroup.listening(address)).hasSize(3);

                ReusePortGroup.steer(ours, 2, 1);
                connect(address);
                assertThat(accepted(third)).isEqualTo(CONNECTIONS);

                ReusePortGroup.steer(ours, 1, 2);
                connect(address);
                assertThat(accepted(second) + accepted(third)).isEqualTo(CONNECTIONS);

                ReusePortGroup.spread(ours);
                ReusePortGroup.spread(ours); // nothing to end any more
                connect(address);
                assertThat(accepted(second)).isPositive();
                assertThat(accepted(third)).isPositive();

                // The one numbered 2 is none when ours is closed, so that the kernel spreads again.
                ReusePortGroup.steer(ours, 2, 1);
                ours.close().syncUninterruptibly();
                connect(address);
                assertThat(accepted(second) + accepted(third)).isEqualTo(CONNECTIONS);
            }
        } finally {
            transport.stop().awaitUninterruptibly();
        }
    }

    @Test
    void onlyTheSameAddressCounts() throws Exception {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0);
        try (ServerSocketChannel socket = listen(any)) {
            InetSocketAddress bound = (InetSocketAddress) socket.getLocalAddress();
            assertThat(ReusePortGroup.listening(bound)).hasSize(1);
            assertThat(ReusePortGroup.listening(new InetSocketAddress("127.0.0.2", bound.getPort())))
                    .isEmpty();
        }
    }
}
