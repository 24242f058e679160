package dev.gateway.net.tls;

import dev.gateway.overload.memory.Account;
import dev.gateway.overload.memory.UnfinishedInput;
import dev.gateway.stream.HandshakeFailure;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * Stands before a client's TLS handler, and charges the client for what that holds: a record of which the rest is still to
 * come, and all that has come of a handshake behind the hello.
 */
final class RecordHandler extends ChannelInboundHandlerAdapter {
    private final Account account;
    private final Records records = new Records();
    private @Nullable Future<?> handshake; // null once it is done
    private @Nullable UnfinishedInput unfinished; // made if something does not come at once
    private int messages; // bytes of the handshake behind the hello
    private boolean hello = true; // nothing has come but that
    private boolean holding;

    /**
     * Makes it. What it is given first is the hello.
     *
     * @param handshake done when the handshake is
     */
    RecordHandler(Account account, Future<?> handshake) {
        this.account = account;
        this.handshake = handshake;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf data = (ByteBuf) message;
        records.read(data);
        if (handshake != null) {
            messages += hello ? 0 : data.readableBytes();
            hello = false;
        }
        ctx.fireChannelRead(message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        if (records.rest() != 0 || holding || handshake != null) {
            hold(ctx);
        }
        ctx.fireChannelReadComplete();
        if (unfinished != null && !ctx.channel().config().isAutoRead()) {
            unfinished.resume(); // the gateway itself does not read on, so the client cannot send the rest
        }
    }

    private void hold(ChannelHandlerContext ctx) {
        long bytes = records.held();
        if (handshake != null && handshake.isDone()) {
            handshake = null;
        }
        if (handshake != null) {
            bytes = Math.max(bytes, messages + records.rest()); // a message may be in many records
        }
        holding = bytes > 0;
        UnfinishedInput waiting = unfinished;
        if (waiting == null) {
            if (!holding) {
                return;
            }
            waiting = new UnfinishedInput(account, ctx.channel(), () -> end(ctx));
            unfinished = waiting;
        }
        if (records.takeCompleted() && handshake == null) {
            waiting.resume(); // what waits now has not waited before
        }
        // Later, a record may be part of an upload: those are cut only if memory runs low.
        if (!waiting.hold(bytes) && handshake != null) {
            end(ctx);
        }
    }

    private void end(ChannelHandlerContext ctx) {
        if (handshake != null) {
            ctx.fireExceptionCaught(new RefusedHandshakeException(HandshakeFailure.OVERLOAD));
        }
        ctx.close();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        if (unfinished != null) {
            unfinished.release();
        }
    }
}
