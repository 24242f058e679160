package dev.gateway.net;

import dev.gateway.stream.Cause;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * Parent proxy handshake: has a proxy connect a new connection to where it is to lead, in the proxy's own protocol. Added
 * to the channel by its dialer, confined to its event loop; ends in one call of its {@link Outcome}. What the other
 * end has sent ahead goes to the next handler in the pipeline.
 */
public abstract class ParentHandshake extends ChannelInboundHandlerAdapter {
    private final Outcome outcome;
    private boolean over;

    /** Told how it went. */
    public interface Outcome {
        /** From here on the connection's bytes are the destination's. This handler leaves when the call returns. */
        void onAgreed();

        /** There is no way to the destination here; the connection is useless now. */
        void onRefused(Cause cause, String detail);
    }

    /** Makes the handler of one connection. */
    protected ParentHandshake(Outcome outcome) {
        this.outcome = outcome;
    }

    /** Sends what the conversation begins with. */
    protected abstract void begin(ChannelHandlerContext ctx);

    /**
     * Takes what the proxy has sent, and none of what follows its consent.
     *
     * @return whether it has agreed
     */
    protected abstract boolean read(ChannelHandlerContext ctx, ByteBuf in);

    /** Ends it: the proxy has refused, or breaks the rules. */
    protected final void refuse(Cause cause, String detail) {
        if (!over) {
            over = true;
            outcome.onRefused(cause, detail);
        }
    }

    /** Whether it has ended. */
    protected final boolean isOver() {
        return over;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        HalfClose.allow(ctx.channel()); // the destination may end its direction together with the parent's consent
        begin(ctx);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf in = (ByteBuf) message;
        boolean passedOn = false;
        try {
            if (over || !read(ctx, in)) {
                return;
            }
            over = true;
            outcome.onAgreed();
            ctx.pipeline().remove(this);
            passedOn = in.isReadable();
        } finally {
            if (!passedOn) {
                in.release();
            }
        }
        if (passedOn) {
            ctx.fireChannelRead(in);
            ctx.fireChannelReadComplete();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (HalfClose.isInputEnd(ctx, event)) {
            refuse(Cause.CONNECT_FAILED, "closed the connection instead of answering");
        }
        ctx.fireUserEventTriggered(event);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        refuse(Cause.CONNECT_FAILED, "closed the connection instead of answering");
        ctx.fireChannelInactive();
    }
}
