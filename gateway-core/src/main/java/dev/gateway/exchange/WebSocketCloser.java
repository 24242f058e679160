package dev.gateway.exchange;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/**
 * Closes a WebSocket for the gateway (RFC 6455, section 7): a Close frame towards the client, between two frames of the
 * upstream, after which nothing more of the upstream's may come. What the client answers goes upstream as ever, and so ends
 * both. Part of a {@link TunnelExchange}.
 */
final class WebSocketCloser {
    private static final byte[] GOING_AWAY = {(byte) 0x88, 2, 1001 >> 8, (byte) 1001}; // RFC 6455, section 7.4.1

    private final WebSocketFrames frames = new WebSocketFrames();
    private boolean wanted;
    private boolean sent;

    /** The frame is to be sent as soon as it may be. */
    void want() {
        wanted = true;
    }

    boolean isWanted() {
        return wanted;
    }

    boolean isSent() {
        return sent;
    }

    /** Returns what of the upstream's bytes may go to the client, before what {@link #closeFrame} then returns. */
    ByteBuf pass(ByteBuf data) {
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

    /** Returns the Close frame if now is the time for it; once. */
    @Nullable
    ByteBuf closeFrame() {
        if (!wanted || sent || !frames.isBetweenFrames() || frames.isClosing()) {
            return null;
        }
        sent = true;
        return Unpooled.wrappedBuffer(GOING_AWAY);
    }
}
