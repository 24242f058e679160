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
 * come, and all that has come of a handshake behind the hello. Looks at the headers of records, and copies nothing.
 */
final class RecordHandler extends ChannelInboundHandlerAdapter {
    // RFC 8446, section 5.1: the length is last.
    private static final int HEADER = 5;
    private static final int LENGTH_AT = 3;

    private final Account account;
    private @Nullable Future<?> handshake; // null once it is done
    private @Nullable UnfinishedInput unfinished; // made if something does not come at once
    private int length; // of the last record, without its header
    private int rest; // how much of it is still to come
    private int begun; // bytes of the next record's header that have come, fewer than all
    private int messages; // bytes of the handshake behind the hello
    private boolean hello = true; // nothing has come but that
    private boolean completed; // a record, since the last charge
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
        int readable = data.readableBytes();
        if (readable < rest) {
            rest -= readable;
        } else {
            walk(data);
        }
        if (handshake != null) {
            messages += hello ? 0 : readable;
            hello = false;
        }
        ctx.fireChannelRead(message);
    }

    /** Goes from header to header. */
    private void walk(ByteBuf data) {
        int end = data.writerIndex();
        int at = data.readerIndex() + rest;
        completed = true;
        while (at < end) {
            if (begun == 0 && end - at >= HEADER) {
                length = data.getUnsignedShort(at + LENGTH_AT);
                at += HEADER + length;
            } else {
                int next = data.getUnsignedByte(at++);
                if (++begun == HEADER - 1) {
                    length = next << 8;
                } else if (begun == HEADER) {
                    length |= next;
                    at += length;
                    begun = 0;
                }
            }
        }
        rest = at - end;
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        if (rest != 0 || holding || handshake != null) {
            hold(ctx);
        }
        ctx.fireChannelReadComplete();
        if (unfinished != null && !ctx.channel().config().isAutoRead()) {
            unfinished.resume(); // the gateway itself does not read on, so the client cannot send the rest
        }
    }

    /** The TLS handler makes room for a whole record as soon as its length is known. */
    private void hold(ChannelHandlerContext ctx) {
        long bytes = rest > 0 ? HEADER + length : 0;
        if (handshake != null && handshake.isDone()) {
            handshake = null;
        }
        if (handshake != null) {
            bytes = Math.max(bytes, messages + rest); // a message may be in many records
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
        if (completed && handshake == null) {
            waiting.resume(); // what waits now has not waited before
        }
        completed = false;
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
