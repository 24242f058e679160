package dev.gateway.protocol.http1;

import dev.gateway.message.Fields;
import dev.gateway.net.ByteStreamHalf;
import dev.gateway.net.WriteRoom;
import dev.gateway.overload.memory.BufferCost;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.Stream;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The sending half of a message, the same for requests and responses: frames the body that follows the head. Once the
 * message has become a tunnel, calls go straight to that.
 */
abstract sealed class OutgoingStream<C extends Http1Connection> implements Stream
        permits Http1ServerStream, Http1ClientStream {
    private static final byte[] CHUNK_END = bytes("\r\n");
    private static final byte[] LAST_CHUNK = bytes("0\r\n\r\n");
    private static final byte[] CHUNK_END_AND_LAST_CHUNK = bytes("\r\n0\r\n\r\n");

    private static final int MAX_CHUNK_LINE = 12; // with the end of the chunk before

    final Channel channel;
    private @Nullable C carrier; // gone once the message is a tunnel, which may be open for days
    private @Nullable ByteStreamHalf tunnel;
    private Framing framing = Framing.NONE;
    private long remaining;
    private boolean inChunks; // a chunk was written, whose CRLF is still to be
    private boolean started;
    private boolean ended;

    OutgoingStream(C carrier, Channel channel) {
        this.carrier = carrier;
        this.channel = channel;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    final void becomes(ByteStreamHalf half) {
        tunnel = half;
        carrier = null;
    }

    /** Returns the connection, as long as the message is one of HTTP. */
    final C carrier() {
        return Objects.requireNonNull(carrier);
    }

    /** Hands bytes to the connection, to be flushed later. What has to wait keeps as little memory as it can. */
    final void write(ByteBuf data) {
        carrier().write(channel.isWritable() ? data : BufferCost.slim(data));
    }

    private void write(byte[] bytes) {
        carrier().room(bytes.length).writeBytes(bytes);
        carrier().wrote(bytes.length);
    }

    /** What the core sends does not fit what its head has announced. */
    abstract void onMisframed(Failure failure);

    /** The final head has been written; a body of this framing follows. */
    final void begin(Framing framing, long length) {
        this.framing = framing;
        remaining = length;
        started = true;
    }

    final boolean isStarted() {
        return started;
    }

    final boolean isEnded() {
        return ended;
    }

    /** Whether a body of unknown length is being sent. */
    final boolean isOfUnknownLength() {
        return started && !ended && (framing == Framing.CHUNKED || framing == Framing.UNTIL_CLOSE);
    }

    /** Whether a peer takes the end of the connection for that of the body. */
    final boolean endsWithConnection() {
        return framing == Framing.UNTIL_CLOSE;
    }

    /** Nothing more is sent; what the core still hands over is released. */
    void end() {
        ended = true;
    }

    @Override
    public void data(ByteBuf data, boolean last) {
        if (tunnel != null) {
            tunnel.data(data, last);
            return;
        }
        if (ended || !started) {
            data.release();
            return;
        }
        WriteRoom.fit(channel);
        int length = data.readableBytes();
        if (framing == Framing.FIXED && (length > remaining || (last && length < remaining))) {
            data.release();
            misframed();
            return;
        }
        if (length == 0 || framing == Framing.NONE) {
            data.release();
        } else if (framing == Framing.CHUNKED) {
            try {
                startChunk(length);
            } catch (Throwable e) {
                data.release();
                throw e;
            }
            write(data);
            inChunks = true;
        } else {
            remaining -= length;
            write(data);
        }
        if (last) {
            if (framing == Framing.CHUNKED) {
                write(inChunks ? CHUNK_END_AND_LAST_CHUNK : LAST_CHUNK);
            }
            finish();
        }
    }

    @Override
    public void trailers(Fields trailers) {
        if (tunnel != null) {
            tunnel.trailers(trailers);
            return;
        }
        if (ended || !started) {
            return;
        }
        if (framing == Framing.FIXED && remaining > 0) {
            misframed();
            return;
        }
        if (framing == Framing.CHUNKED) {
            int size = (inChunks ? 2 : 0) + 3 + trailers.wireLength() + 2;
            ByteBuf out = carrier().room(size);
            if (inChunks) {
                out.writeShort('\r' << 8 | '\n');
            }
            out.writeMedium('0' << 16 | '\r' << 8 | '\n');
            trailers.writeTo(out);
            out.writeShort('\r' << 8 | '\n');
            carrier().wrote(size);
        }
        finish();
    }

    /** Ends a message that has no body. */
    final void finish() {
        ended = true;
        carrier().onSent(this);
    }

    @Override
    public final void flush() {
        if (tunnel != null) {
            tunnel.flush();
        } else {
            endChunk();
            carrier().flush();
        }
    }

    @Override
    public boolean isWritable() {
        return channel.isWritable();
    }

    @Override
    public final long unsent() {
        return tunnel != null ? tunnel.unsent() : carrier().unsent() + early();
    }

    @Override
    public final long lingering() {
        return tunnel != null ? 0 : carrier().lingering();
    }

    @Override
    public final boolean copies() {
        return tunnel == null && carrier().copies();
    }

    /** Returns how many bytes of memory wait here until the message is a tunnel. */
    long early() {
        return 0;
    }

    @Override
    public final void consumed(int bytes) {
        if (tunnel != null) {
            tunnel.consumed(bytes);
        } else {
            carrier().consumed(this, bytes);
        }
    }

    @Override
    public final void reset(Failure failure) {
        if (tunnel != null) {
            tunnel.reset(failure);
        } else {
            carrier().reset(this);
        }
    }

    @Override
    public final void close(Failure failure) {
        if (tunnel != null) {
            tunnel.close(failure);
        } else {
            reset(failure);
        }
    }

    private void misframed() {
        onMisframed(Failure.of(Cause.UPSTREAM_PROTOCOL_ERROR, "the body is not as long as announced"));
    }

    /** What is flushed ends its chunk: many a peer takes no chunk before its end, and the next one may be long in coming. */
    private void endChunk() {
        if (inChunks && !ended) {
            inChunks = false;
            write(CHUNK_END);
        }
    }

    /** Writes the line before a chunk, and the end of the chunk before. */
    private void startChunk(int length) {
        ByteBuf out = carrier().room(MAX_CHUNK_LINE);
        int start = out.writerIndex();
        if (inChunks) {
            out.writeShort('\r' << 8 | '\n');
        }
        for (int shift = (31 - Integer.numberOfLeadingZeros(length)) & ~3; shift >= 0; shift -= 4) {
            int digit = length >>> shift & 0xf;
            out.writeByte(digit < 10 ? '0' + digit : 'a' - 10 + digit);
        }
        out.writeShort('\r' << 8 | '\n');
        carrier().wrote(out.writerIndex() - start);
    }
}
