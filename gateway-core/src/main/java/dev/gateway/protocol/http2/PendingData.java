package dev.gateway.protocol.http2;

import dev.gateway.overload.memory.BufferCost;
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
         * @param room the bytes of memory that the piece has no more
         */
        void writeData(ChannelHandlerContext ctx, ByteBuf data, int room, boolean last);

        /** A piece was merged with the one before, and has this number of bytes of memory more, or less. */
        void onMerged(int more);

        /** The last of the body was written. */
        void closeLocal();
    }

    private final Owner stream;
    private ByteBuf data;
    private boolean last;
    private int room; // bytes of memory
    private boolean merged; // whether the buffer was made here, with room to append

    private PendingData(Owner stream, ByteBuf data, boolean last, int room) {
        this.stream = stream;
        this.data = data;
        this.last = last;
        this.room = room;
    }

    /** Makes a piece that most likely leaves at the next flush, with other parts of its buffer. */
    static PendingData leaving(Owner stream, ByteBuf data, boolean last) {
        return new PendingData(stream, data, last, BufferCost.room(data));
    }

    /** Makes a piece that has to wait. It keeps all of its buffer, or it is copied. */
    static PendingData waiting(Owner stream, ByteBuf data, boolean last) {
        ByteBuf kept = BufferCost.slim(data);
        return new PendingData(stream, kept, last, BufferCost.whole(kept));
    }

    @Override
    public int size() {
        return data.readableBytes();
    }

    /** Returns how many bytes of memory it has. */
    int room() {
        return room;
    }

    /** Returns how many bytes of memory its buffer takes beyond {@link #room}, because nobody else has a part of it now. */
    long unsettled() {
        return room == 0 ? 0 : Math.max(0, directBytes() - room);
    }

    /** Counts these bytes from now on, as the next piece has come, and who read this one has let go of its buffer. */
    long settle() {
        long more = unsettled();
        room += (int) more;
        return more;
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
        int freed = 0;
        if (allowedBytes >= size) {
            out = data;
            freed = room;
            room = 0;
            data = Unpooled.EMPTY_BUFFER;
        } else if (allowedBytes > 0) {
            out = data.readRetainedSlice(allowedBytes);
        } else {
            return;
        }
        stream.writeData(ctx, out, freed, last && allowedBytes >= size);
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
            ByteBuf joined = ctx.alloc().buffer(MERGED);
            joined.writeBytes(data);
            data.release();
            data = joined;
            merged = true;
        }
        data.writeBytes(following.data);
        following.data.release();
        following.data = Unpooled.EMPTY_BUFFER;
        last = following.last;
        int now = BufferCost.room(data);
        stream.onMerged(now - room - following.room);
        room = now;
        return true;
    }
}
