package dev.gateway.protocol.http2;

import dev.gateway.stream.ConnectionObserver;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.DefaultHttp2FrameReader;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2FrameReader;
import io.netty.handler.codec.http2.Http2FrameTypes;

/**
 * Netty's frame reader, with every frame counted and judged by the {@link FloodGuard} as soon as its header is there:
 * before it costs anything, and whatever becomes of it.
 */
final class FrameReader implements Http2FrameReader {
    private static final int HEADER = 9;

    private final DefaultHttp2FrameReader delegate;
    private final FloodGuard guard;
    private final ConnectionObserver observer;
    private final LateFrames lateFrames;
    private int ahead; // how far beyond the unread input the frames already counted reach
    private int lastType; // of those frames
    private int lastLength; // of the payload of the last one
    private int lastStream; // of that one
    private boolean partial; // not all of the last one has come
    private boolean unfinished; // that one, or a header block
    private boolean completed; // a frame, since this was asked last

    FrameReader(HeadersDecoder headersDecoder, FloodGuard guard, ConnectionObserver observer, LateFrames lateFrames) {
        this.delegate = new DefaultHttp2FrameReader(headersDecoder, Integer.MAX_VALUE);
        this.guard = guard;
        this.observer = observer;
        this.lateFrames = lateFrames;
    }

    @Override
    public void readFrame(ChannelHandlerContext ctx, ByteBuf input, Http2FrameListener listener) throws Http2Exception {
        int end = input.writerIndex();
        int next = input.readerIndex() + ahead;
        boolean before = partial;
        int frames = 0;
        while (end - next >= HEADER) {
            int length = input.getUnsignedMedium(next);
            int type = input.getUnsignedByte(next + 3);
            lastType = type;
            lastLength = length;
            frames++;
            observer.onFrameReceived(type, length);
            lastStream = input.getInt(next + 5) & Integer.MAX_VALUE;
            guard.onFrame(type, input.getUnsignedByte(next + 4), length, lastStream);
            next += HEADER + length;
        }
        try {
            delegate.readFrame(ctx, input, lateFrames.before(listener));
        } finally {
            ahead = next - input.readerIndex();
            partial = next > end;
            unfinished = next != end || guard.isBlockOpen();
            completed |= frames + (before ? 1 : 0) > (partial ? 1 : 0);
        }
    }

    /** Whether a header block has begun, be it one frame or several, that is not yet complete. */
    boolean isWithinHeaders() {
        return guard.isBlockOpen() || isPartialHeaders();
    }

    /** Whether the last frame is part of a header block, and not all of it has come. */
    private boolean isPartialHeaders() {
        return partial && (lastType == Http2FrameTypes.HEADERS || lastType == Http2FrameTypes.CONTINUATION);
    }

    /** Whether the rest of a frame or of a header block is still to come. */
    boolean isUnfinished() {
        return unfinished;
    }

    /** Returns the number of the stream of the last frame that has begun, 0 for none. */
    int lastStream() {
        return lastStream;
    }

    /** Returns how many bytes were copied of a header block that has not ended. */
    long blockBytes() {
        if (!isWithinHeaders()) {
            return 0;
        }
        return guard.headerBlock() - (isPartialHeaders() ? lastLength : 0);
    }

    /** Whether a frame has ended since this was asked last, and not within a header block that is still open. */
    boolean takeCompleted() {
        boolean taken = completed && !guard.isBlockOpen();
        completed = false;
        return taken;
    }

    @Override
    public Configuration configuration() {
        return delegate.configuration();
    }

    @Override
    public void close() {
        delegate.close();
    }
}
