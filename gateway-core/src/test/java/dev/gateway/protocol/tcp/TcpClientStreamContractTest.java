package dev.gateway.protocol.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gateway.stream.ClientStream;
import dev.gateway.stream.ClientStreamContract;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.testing.Blockade;
import dev.gateway.testing.Buffers;
import dev.gateway.testing.HalfClosableChannel;
import dev.gateway.time.TimerWheel;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The contract of streams for bytes without a protocol, where all that the upstream can do is send and end. */
class TcpClientStreamContractTest extends ClientStreamContract {
    private final HalfClosableChannel channel = new HalfClosableChannel();
    private final StringBuilder sent = new StringBuilder();
    private @Nullable Blockade blockade;
    private boolean closed; // in order: a reset goes past all handlers
    private int overs;

    @Override
    protected Set<Ability> abilities() {
        return Set.of();
    }

    @Override
    protected ClientStream open(ResponseEvents events) {
        channel.freezeTime();
        channel.pipeline().addLast(new ChannelOutboundHandlerAdapter() {
            @Override
            public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
                closed |= channel.isOpen();
                ctx.close(promise);
            }
        });
        TimerWheel timers = new TimerWheel(
                channel.eventLoop(), () -> channel.eventLoop().ticker().nanoTime());
        return TcpClientStream.over(channel, () -> overs++, events, new ConnectionObserver() {}, timers);
    }

    @Override
    protected void upstreamAnswers(int status) {
        throw new UnsupportedOperationException();
    }

    @Override
    protected void upstreamSends(String... pieces) {
        if (channel.isOpen()) {
            Object[] reads = new Object[pieces.length];
            for (int i = 0; i < pieces.length; i++) {
                reads[i] = Buffers.of(pieces[i]);
            }
            channel.writeInbound(reads);
        }
    }

    @Override
    protected boolean mayUpstreamSend(int bytes) {
        return channel.config().isAutoRead();
    }

    @Override
    protected void upstreamEnds() {
        if (channel.isOpen()) {
            channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        }
    }

    @Override
    protected void upstreamEndsWith(String name, String value) {
        throw new UnsupportedOperationException();
    }

    @Override
    protected void upstreamRefuses() {
        upstreamEnds();
    }

    @Override
    protected void upstreamDies() {
        channel.close();
        channel.runPendingTasks();
    }

    @Override
    protected void upstreamStalls() {
        blockade = new Blockade(channel);
    }

    @Override
    protected void upstreamTakesAgain() {
        if (blockade != null) {
            blockade.lift();
        }
        channel.runPendingTasks();
    }

    @Override
    protected String received() {
        channel.runPendingTasks();
        for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
            sent.append(out.toString(StandardCharsets.ISO_8859_1));
            out.release();
        }
        return sent.toString();
    }

    @Override
    protected boolean hasReceivedEnd() {
        return channel.isOutputShutdown() || closed;
    }

    @Override
    protected boolean hasReceivedTrailer(String name) {
        return received().contains(name);
    }

    @Override
    protected boolean hasReceivedReset() {
        return !channel.isOpen() && !closed;
    }

    @Override
    protected void tearDown() {
        channel.finishAndReleaseAll();
        assertEquals(1, overs, "its keeper is told once that it is over");
    }
}
