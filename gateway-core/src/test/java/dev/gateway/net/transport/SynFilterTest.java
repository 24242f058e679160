package dev.gateway.net.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A listening socket that takes nobody new serves those who have come. */
@Timeout(60)
class SynFilterTest {
    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void whoHasComeIsServedAndNobodyElseComes(String address) throws Exception {
        Transport transport = Transport.start(TransportKind.EPOLL, 1);
        try {
            InetAddress bound = InetAddress.getByName(address);
            Channel server = transport
                    .server(transport.loops().get(0), transport.group(), new InetSocketAddress(bound, 0), 64, false)
                    .option(ChannelOption.AUTO_READ, false) // nobody is accepted yet
                    .childHandler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                                @Override
                                public void channelRead(ChannelHandlerContext ctx, Object message) {
                                    ctx.writeAndFlush(message);
                                }
                            });
                        }
                    })
                    .bind()
                    .sync()
                    .channel();
            InetSocketAddress local = (InetSocketAddress) server.localAddress();
            try (Socket came = new Socket(local.getAddress(), local.getPort());
                    Socket late = new Socket()) {
                // Where it may not, the build of all tools counts this as a failure.
                assumeTrue(SynFilter.attach(server), "this user may attach no socket filter (CAP_BPF)");
                assertThatThrownBy(() -> late.connect(local, 300)).isInstanceOf(SocketTimeoutException.class);
                came.getOutputStream().write('a');
                server.config().setAutoRead(true);
                assertThat(came.getInputStream().read()).isEqualTo('a');
            }
        } finally {
            transport.stop().sync();
        }
    }

    @Test
    void whereThePlatformCannotItSaysSo() throws Exception {
        Transport transport = Transport.start(TransportKind.NIO, 1);
        try {
            InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
            Channel server = transport
                    .server(transport.loops().get(0), transport.group(), any, 64, false)
                    .childHandler(new ChannelInboundHandlerAdapter())
                    .bind()
                    .sync()
                    .channel();
            assertThat(SynFilter.attach(server)).isFalse();
        } finally {
            transport.stop().sync();
        }
    }
}
