package dev.gateway.exchange;

import io.netty.buffer.ByteBuf;

/**
 * Follows the frames that one end of a WebSocket sends (RFC 6455, section 5.2), to know where one ends: it reads their
 * headers and skips what they hold, however the bytes are cut into pieces. Changes nothing.
 */
final class WebSocketFrames {
    private static final int CLOSE = 8;

    private int opcode;
    private int headerLength = 2; // as far as it is known
    private int headerSeen;
    private int lengthEnd; // where in the header the length ends, and the masking key begins
    private long payload; // bytes still to come of what the frame holds
    private boolean closing;

    /** Whether the last byte was a frame's last, or none has come. */
    boolean isBetweenFrames() {
        return headerSeen == 0;
    }

    /** Whether a Close frame has come: none but that of the other end follows. */
    boolean isClosing() {
        return closing;
    }

    /** Goes over bytes. */
    void skip(ByteBuf data) {
        int at = data.readerIndex();
        while (at < data.writerIndex()) {
            at = step(data, at);
        }
    }

    /** Goes over bytes up to the end of the frame that they begin in; returns how many, or -1 if it is not there yet. */
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

    /** Takes a byte of a header, or the part of the payload that is here. */
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
