package dev.gateway.exchange.tunnel;

import io.netty.buffer.ByteBuf;

/**
 * Follows the frames that one end of a WebSocket sends (RFC 6455, section 5.2), to know where each ends. It reads headers
 * and skips payloads, however the bytes are split. It does not change the bytes.
 */
final class WebSocketFrames {
    private static final int CLOSE = 8;

    private int opcode;
    private int headerLength = 2; // known so far
    private int headerSeen;
    private int lengthEnd; // position in the header where the length ends and the masking key begins
    private long payload; // bytes of the payload that are still missing
    private boolean closing;

    /** Whether the last byte was the end of a frame, or no byte has come. */
    boolean isBetweenFrames() {
        return headerSeen == 0;
    }

    /** Whether a Close frame has come, after which this end sends no more frames. */
    boolean isClosing() {
        return closing;
    }

    /** Reads over all bytes. */
    void skip(ByteBuf data) {
        int at = data.readerIndex();
        while (at < data.writerIndex()) {
            at = step(data, at);
        }
    }

    /** Reads over bytes up to the end of the current frame; returns how many, or -1 if the frame does not end in them. */
    int skipToFrameEnd(ByteBuf data) {
        int at = data.readerIndex();
        while (at < data.writerIndex()) {
            at = step(data, at);
            if (headerSeen == 0) {
                return at - data.readerIndex();
            }
        }
        return -1;
    }

    /** Reads a byte of a header, or skips the available part of the payload. */
    private int step(ByteBuf data, int at) {
        int next = at;
        if (headerSeen < headerLength) {
            onHeader(data.getByte(next++) & 0xff);
        } else {
            int skipped = (int) Math.min(payload, data.writerIndex() - at);
            payload -= skipped;
            next += skipped;
        }
        if (headerSeen == headerLength && payload == 0) {
            closing |= opcode == CLOSE;
            headerSeen = 0;
            headerLength = 2;
        }
        return next;
    }

    private void onHeader(int b) {
        if (headerSeen == 0) {
            opcode = b & 0xf;
        } else if (headerSeen == 1) {
            int length = b & 0x7f;
            lengthEnd = length == 126 ? 4 : length == 127 ? 10 : 2;
            payload = lengthEnd == 2 ? length : 0;
            headerLength = lengthEnd + ((b & 0x80) == 0 ? 0 : 4);
        } else if (headerSeen < lengthEnd) {
            payload = (payload << 8 | b) & Long.MAX_VALUE; // the highest bit must be 0
        }
        headerSeen++;
    }
}
