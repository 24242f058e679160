package dev.gateway.net.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;

/**
 * What is open on the event loops, so that it can be closed before they end. A loop that ends closes its channels too,
 * but where that takes a turn of the kernel's, as with io_uring, the loop is gone before their handlers hear of it, and
 * what those hold is never released. Safe from any thread.
 */
final class OpenChannels {
    private final ChannelGroup channels;

    /** Makes it; the loop is only used to tell that all are closed. */
    OpenChannels(EventLoop loop) {
        channels = new DefaultChannelGroup(loop);
    }

    /** Returns a factory whose channels are known here. */
    <C extends Channel> ChannelFactory<C> knownFrom(ChannelFactory<C> factory) {
        return () -> {
            C channel = factory.newChannel();
            channels.add(channel);
            return channel;
        };
    }

    /** Returns the handler of a listening socket that makes accepted connections known here. */
    ChannelHandler accepting() {
        return new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                channels.add((Channel) message);
                ctx.fireChannelRead(message);
            }
        };
    }

    /** Closes all at once, past their handlers, and waits until they are closed, but not for ever. */
    void closeAll(long millis) {
        for (Channel channel : channels) {
            if (channel.isRegistered()) {
                channel.eventLoop()
                        .execute(() -> channel.unsafe().close(channel.unsafe().voidPromise()));
            }
        }
        channels.newCloseFuture().awaitUninterruptibly(millis);
    }
}
