package dev.gateway.net.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.net.HalfClose;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An upstream that has answered and reset its connection while nobody reads it, since the client takes nothing. */
@Timeout(60)
class PausedResetTest {
    private static final int ANSWER = 10_000;

    @ParameterizedTest
    @EnumSource
    void theAnswerIsReadAfterThePause(TransportKind kind) throws Exception {
        Assumptions.assumeTrue(kind.unavailabilityCause() == null, kind + " does not work here");
        Transport transport = Transport.start(kind, 1);
        EventLoop loop = transport.loops().get(0);
        Reader reader = new Reader();
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Channel channel = transport
                    .client(loop, server.getLocalSocketAddress(), 0)
                    .handler(reader)
                    .connect()
                    .sync()
                    .channel();
            try (Socket peer = server.accept()) {
                HalfClose.survivesWrites(channel, true);
                peer.getOutputStream().write(1);
                assertThat(reader.first.get(20, TimeUnit.SECONDS)).isEqualTo(1); // and from here on nobody reads
                peer.getOutputStream().write(new byte[ANSWER - 1]);
                peer.setSoLinger(true, 0);
            }
            for (int i = 0; i < 20; i++) {
                loop.submit(() -> {}).sync(); // a turn, in which the loop hears of the reset
            }
            loop.submit(() -> channel.config().setAutoRead(true)).sync();
            assertThat(reader.end.get(20, TimeUnit.SECONDS)).isEqualTo(ANSWER);
        } finally {
            transport.stop().sync();
        }
    }

    /** Pauses after the first read. Used by the loop. */
    private static final class Reader extends ChannelInboundHandlerAdapter {
        private final CompletableFuture<Integer> first = new CompletableFuture<>();
        private final CompletableFuture<Integer> end = new CompletableFuture<>();
        private int received;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            received += ((ByteBuf) message).readableBytes();
            ((ByteBuf) message).release();
            if (!first.isDone()) {
                ctx.channel().config().setAutoRead(false);
                first.complete(received);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close(); // the reset
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            end.complete(received);
        }
    }
}
