package dev.gateway.protocol.http2;

import dev.gateway.message.Fields;
import dev.gateway.overload.memory.BufferCost;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2RemoteFlowController.FlowControlled;
import org.jspecify.annotations.Nullable;

/** Body bytes or trailers that wait for the peer's window; owns their buffer. */
final class PendingData implements FlowControlled {
    private static final int MERGED = 4096;

    private final MultiplexedStream stream;
    private final @Nullable Fields trailers; // null for a piece of the body
    private ByteBuf data;
    private boolean last;
    private int room; // bytes of memory
    private boolean merged; // whether the buffer was made here, with room to append

    private PendingData(MultiplexedStream stream, ByteBuf data, boolean last, int room, @Nullable Fields trailers) {
        this.stream = stream;
        this.trailers = trailers;
        this.data = data;
        this.last = last;
        this.room = room;
    }

    /** Makes a piece that most likely leaves at the next flush, with other parts of its buffer. */
    static PendingData leaving(MultiplexedStream stream, ByteBuf data, boolean last) {
        return new PendingData(stream, data, last, BufferCost.room(data), null);
    }

    /** Makes a piece that has to wait. It keeps all of its buffer, or it is copied. */
    static PendingData waiting(MultiplexedStream stream, ByteBuf data, boolean last) {
        ByteBuf kept = BufferCost.slim(data);
        return new PendingData(stream, kept, last, BufferCost.whole(kept), null);
    }

    /** Makes trailers that wait behind the body: they need no window, but their turn. */
    static PendingData trailers(MultiplexedStream stream, Fields trailers) {
        return new PendingData(stream, Unpooled.EMPTY_BUFFER, false, 0, trailers);
    }

    @Override
    public int size() {
        return data.readableBytes();
    }

    /** Returns how many bytes of memory it has. */
    int room() {
        return room;
    }

    /** Returns how many bytes of memory its buffer takes beyond {@link #room}, as no other piece has a part of it now. */
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
        if (trailers != null) {
            stream.writeTrailers(trailers);
            return;
        }
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
        if (!(next instanceof PendingData following)
                || last
                || trailers != null
                || following.trailers != null
                || size() + next.size() > MERGED) {
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
