package dev.gateway.testing;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;

/** A peer that takes nothing until it is told to: what is flushed waits in the channel. */
public final class Blockade extends ChannelOutboundHandlerAdapter {
    private final EmbeddedChannel channel;
    private boolean lifted;

    /** Makes it the first handler of the channel. */
    public Blockade(EmbeddedChannel channel) {
        this.channel = channel;
        channel.pipeline().addFirst(this);
    }

    /** The peer takes what waits, and what comes. */
    public void lift() {
        lifted = true;
        channel.flush();
    }

    /** The peer takes no more. */
    public void restore() {
        lifted = false;
    }

    @Override
    public void flush(ChannelHandlerContext ctx) {
        if (lifted) {
            ctx.flush();
        }
    }
}
