package dev.gateway.exchange.tunnel;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/**
 * Closes a WebSocket on behalf of the gateway (RFC 6455, section 7). It sends a Close frame to the client, between two
 * frames of the upstream, and drops all later bytes of the upstream. The client's answer goes upstream as usual, and so
 * closes both sides. Part of a {@code TunnelExchange}.
 */
public final class WebSocketCloser {
    private static final byte[] GOING_AWAY = {(byte) 0x88, 2, 1001 >> 8, (byte) 1001}; // RFC 6455, section 7.4.1

    private final WebSocketFrames frames = new WebSocketFrames();
    private boolean wanted;
    private boolean sent;

    /** Asks for a Close frame as soon as the position in the stream allows it. */
    public void want() {
        wanted = true;
    }

    /** Whether a Close frame was asked for. */
    public boolean isWanted() {
        return wanted;
    }

    /** Whether the client has the gateway's Close frame. */
    public boolean isSent() {
        return sent;
    }

    /** Whether the client has a Close frame, of the gateway or of the upstream. */
    public boolean isFarewellSaid() {
        return sent || frames.isClosing();
    }

    /**
     * Returns the part of the upstream's bytes that goes to the client, before the frame that {@link #closeFrame} returns.
     */
    public ByteBuf pass(ByteBuf data) {
        if (sent) {
            data.release();
            return Unpooled.EMPTY_BUFFER;
        }
        if (!wanted || frames.isClosing()) {
            frames.skip(data);
            return data;
        }
        int length = frames.skipToFrameEnd(data);
        if (length < 0) {
            return data;
        }
        ByteBuf rest = data.readRetainedSlice(length);
        data.release();
        return rest;
    }

    /** Returns the Close frame, once, if it is due and the position in the stream allows it; else null. */
    public @Nullable ByteBuf closeFrame() {
        if (!wanted || sent || !frames.isBetweenFrames() || frames.isClosing()) {
            return null;
        }
        sent = true;
        return Unpooled.wrappedBuffer(GOING_AWAY);
    }
}
