package dev.gateway.protocol.http1;

import dev.gateway.message.Fields;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** Where the body being received ends (RFC 9112, section 6.3). One per connection, used for one after another. */
final class BodyReader {
    private final ChunkDecoder chunks;
    private Framing framing = Framing.NONE;
    private long remaining;

    /**
     * Makes a reader.
     *
     * @param strict whether chunks are read as those of a client, not of an upstream
     */
    BodyReader(HeadLimits limits, boolean strict) {
        chunks = new ChunkDecoder(limits, strict);
    }

    /** Begins a body of that many bytes; with {@link Framing#CHUNKED} or another framing the length is not used. */
    void start(Framing framing, long length) {
        this.framing = framing;
        remaining = length;
        if (framing == Framing.CHUNKED) {
            chunks.start();
        }
    }

    /**
     * Returns how many bytes at the buffer's reader index are body, which the caller takes; 0 if there are none now, see
     * {@link #progress}.
     */
    int next(ByteBuf in) {
        switch (framing) {
            case CHUNKED -> {
                return chunks.next(in);
            }
            case FIXED -> {
                int length = (int) Math.min(remaining, in.readableBytes());
                remaining -= length;
                return length;
            }
            case UNTIL_CLOSE -> {
                return in.readableBytes();
            }
            default -> {
                return 0;
            }
        }
    }

    /** Whether the body is complete, refused, or needs more input. */
    Progress progress() {
        return switch (framing) {
            case CHUNKED -> chunks.progress();
            case FIXED -> remaining == 0 ? Progress.COMPLETE : Progress.MORE;
            case UNTIL_CLOSE -> Progress.MORE;
            case NONE -> Progress.COMPLETE;
        };
    }

    Framing framing() {
        return framing;
    }

    /** Returns the bytes still to come of a body with a length, else 0. */
    long remaining() {
        return framing == Framing.FIXED ? remaining : 0;
    }

    /** Returns the trailers of a complete body, or null. */
    @Nullable
    Fields trailers() {
        return framing == Framing.CHUNKED ? chunks.trailers() : null;
    }

    /** Returns how many bytes of heap trailers take of which not all has come. */
    int heldBytes() {
        return framing == Framing.CHUNKED ? chunks.heldBytes() : 0;
    }

    /** Forgets what has come of trailers, and those of the last body. */
    void forget() {
        framing = Framing.NONE;
        chunks.start();
    }

    /** Returns what was wrong with a body refused. */
    Http1Violation violation() {
        return chunks.violation();
    }
}
