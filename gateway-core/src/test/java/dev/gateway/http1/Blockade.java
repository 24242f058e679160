package dev.gateway.http1;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;

/** A peer that takes nothing until it is told to: what is flushed waits in the channel. */
final class Blockade extends ChannelOutboundHandlerAdapter {
    private final EmbeddedChannel channel;
    private boolean lifted;

    Blockade(EmbeddedChannel channel) {
        this.channel = channel;
        channel.pipeline().addFirst(this);
    }

    /** The peer takes what waits, and what comes. */
    void lift() {
        lifted = true;
        channel.flush();
    }

    /** The peer takes no more. */
    void restore() {
        lifted = false;
    }

    @Override
    public void flush(ChannelHandlerContext ctx) {
        if (lifted) {
            ctx.flush();
        }
    }
}
