package dev.gateway.http2;

import dev.gateway.overload.BufferCost;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2RemoteFlowController.FlowControlled;

/** Body bytes that wait for the peer's window; owns their buffer. */
final class PendingData implements FlowControlled {
    private static final int MERGED = 4096;

    /** The stream whose body it is. */
    interface Owner {
        /**
         * Writes what fits the window.
         *
         * @param data owned from here on
         */
        void writeData(ChannelHandlerContext ctx, ByteBuf data, boolean last);

        /** The last of the body was written. */
        void closeLocal();
    }

    private final Owner stream;
    private ByteBuf data;
    private boolean last;
    private boolean merged; // whether the buffer was made here, with room to append

    PendingData(Owner stream, ByteBuf data, boolean last) {
        this.stream = stream;
        this.data = data;
        this.last = last;
    }

    @Override
    public int size() {
        return data.readableBytes();
    }

    /** Returns how many bytes of heap its buffer takes. */
    long heapBytes() {
        return BufferCost.heap(data);
    }

    /** Returns how many bytes of direct memory its buffer takes. */
    long directBytes() {
        return BufferCost.direct(data);
    }

    @Override
    public void write(ChannelHandlerContext ctx, int allowedBytes) {
        int size = data.readableBytes();
        ByteBuf out;
        if (allowedBytes >= size) {
            out = data;
            data = Unpooled.EMPTY_BUFFER;
        } else if (allowedBytes > 0) {
            out = data.readRetainedSlice(allowedBytes);
        } else {
            return;
        }
        stream.writeData(ctx, out, last && allowedBytes >= size);
    }

    @Override
    public void writeComplete() {
        if (last) {
            stream.closeLocal();
        }
    }

    /** The stream closed first. */
    @Override
    public void error(ChannelHandlerContext ctx, Throwable cause) {
        ByteBuf dropped = data;
        data = Unpooled.EMPTY_BUFFER;
        dropped.release();
    }

    /** Short chunks written between two flushes leave as one frame. */
    @Override
    public boolean merge(ChannelHandlerContext ctx, FlowControlled next) {
        if (!(next instanceof PendingData following) || last || size() + next.size() > MERGED) {
            return false;
        }
        if (!merged || data.writableBytes() < following.size()) {
            ByteBuf room = ctx.alloc().buffer(MERGED);
            room.writeBytes(data);
            data.release();
            data = room;
            merged = true;
        }
        data.writeBytes(following.data);
        following.data.release();
        following.data = Unpooled.EMPTY_BUFFER;
        last = following.last;
        return true;
    }
}
