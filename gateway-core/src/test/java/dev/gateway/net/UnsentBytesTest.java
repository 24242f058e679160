package dev.gateway.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gateway.net.transport.Transport;
import dev.gateway.net.transport.TransportKind;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.uring.IoUringChannelOption;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class UnsentBytesTest {
    @ParameterizedTest
    @EnumSource
    void theKernelIsToldTheLimitWhereThereIsAnOptionForIt(TransportKind kind) throws Exception {
        assumeTrue(kind.unavailabilityCause() == null, kind + " is not available here");
        Transport transport = Transport.start(kind, 1);
        EventLoop loop = transport.loops().get(0);
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Channel channel = transport
                    .client(loop, server.getLocalSocketAddress(), 5_000)
                    .handler(new ChannelInboundHandlerAdapter())
                    .connect()
                    .sync()
                    .channel();
            loop.submit(() -> UnsentBytes.limit(channel)).sync();
            assertThat(limit(kind, channel)).isEqualTo(kind == TransportKind.NIO ? null : UnsentBytes.LIMIT);
            channel.close().sync();
            loop.submit(() -> UnsentBytes.limit(channel)).sync(); // and nothing is thrown
        } finally {
            transport.stop().awaitUninterruptibly();
        }
    }

    private static @Nullable Long limit(TransportKind kind, Channel channel) {
        return switch (kind) {
            case EPOLL -> channel.config().getOption(EpollChannelOption.TCP_NOTSENT_LOWAT);
            case IO_URING -> channel.config().getOption(IoUringChannelOption.TCP_NOTSENT_LOWAT);
            case NIO -> null;
        };
    }
}
