package dev.gateway.upstream.pool;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The endpoint's end of a connection. It knows what it was asked, in HTTP/1.1 or HTTP/2, and makes the bytes of answers, but
 * does nothing by itself. Knows nothing of the code under test.
 */
final class ModelServer {
    private static final int PREFACE_LENGTH = 24;
    private static final int FRAME_HEAD = 9;
    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int RST_STREAM = 3;
    private static final int SETTINGS = 4;
    private static final int GOAWAY = 7;
    private static final int ACK = 1;
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;
    private static final int MAX_CONCURRENT_STREAMS = 3;
    static final int REFUSED_STREAM = 7;
    static final int CANCEL = 8;
    private static final int END_OF_HEAD = 0x0d0a0d0a; // CR LF CR LF

    private final ByteBuf in = Unpooled.buffer();

    /** What was asked and not answered to the end, by the stream's number (1 in HTTP/1.1), and whether a head was sent. */
    private final Map<Integer, Boolean> asked = new LinkedHashMap<>();

    private boolean http1;
    private boolean http2;
    private boolean ready; // HTTP/2 only: has sent its first settings
    private boolean goingAway;
    private boolean closing; // HTTP/1.1 only: has said or shown that it takes no more requests
    private boolean askedLate; // a request came although it takes no more
    private int lastTaken = Integer.MAX_VALUE; // the last stream that it takes
    private boolean refuses; // has refused a stream, so that fewer are sent for a while
    private int maxStreams = Integer.MAX_VALUE;

    void read(ByteBuf bytes) {
        in.writeBytes(bytes);
        if (!http1 && !http2 && in.isReadable()) {
            http2 = in.getByte(in.readerIndex()) == 'P';
            http1 = !http2;
            in.skipBytes(http2 ? PREFACE_LENGTH : 0);
        }
        if (http1) {
            readHeads();
        } else {
            readFrames();
        }
        in.discardReadBytes();
    }

    private void readHeads() {
        for (int i = in.readerIndex(); i + Integer.BYTES <= in.writerIndex(); i++) {
            if (in.getInt(i) == END_OF_HEAD) {
                askedLate |= closing;
                asked.put(1, false);
                in.readerIndex(i + Integer.BYTES);
            }
        }
    }

    private void readFrames() {
        while (in.readableBytes() >= FRAME_HEAD) {
            int length = in.getUnsignedMedium(in.readerIndex());
            if (in.readableBytes() < FRAME_HEAD + length) {
                return;
            }
            int type = in.getUnsignedByte(in.readerIndex() + 3);
            int stream = in.getInt(in.readerIndex() + 5);
            in.skipBytes(FRAME_HEAD + length);
            if (type == HEADERS) {
                askedLate |= goingAway;
                asked.put(stream, false);
            } else if (type == RST_STREAM) {
                asked.remove(stream);
            } // a PING is not answered: that server is silent
        }
    }

    boolean isHttp1() {
        return http1;
    }

    boolean isHttp2() {
        return http2;
    }

    /** Whether it waits for settings. */
    boolean isUnready() {
        return http2 && !ready;
    }

    /** Whether requests may be sent that it will take, as far as its own word goes. */
    boolean hasRoom() {
        return ready && !goingAway && !refuses && asked.size() < maxStreams;
    }

    /** Whether a request came after it had said that it takes no more. */
    boolean isAskedLate() {
        return askedLate;
    }

    /** Ends its direction, or is about to. */
    void close() {
        closing = true;
    }

    /** Returns the streams on which something is to be answered. */
    List<Integer> asked() {
        return new ArrayList<>(asked.keySet());
    }

    boolean isHeadSent(int stream) {
        return Boolean.TRUE.equals(asked.get(stream));
    }

    // What it sends.

    /** Returns a whole answer, or the end of one whose head was sent. */
    ByteBuf answer(int stream, int status, String fields) {
        boolean headSent = Boolean.TRUE.equals(asked.remove(stream));
        if (http1) {
            closing |= !headSent && fields.contains("close");
            return headSent ? text("x") : text(head(status, 0, fields));
        }
        return headSent
                ? frame(DATA, END_STREAM, stream, (byte) 'x')
                : frame(HEADERS, END_HEADERS | END_STREAM, stream, block(status));
    }

    /** Returns a head behind which a body is to come. */
    ByteBuf head(int stream, int status) {
        asked.put(stream, true);
        return http1 ? text(head(status, 1, "")) : frame(HEADERS, END_HEADERS, stream, block(status));
    }

    /** Returns an answer that nobody has asked for. */
    ByteBuf unsolicited() {
        closing = true;
        return text(head(408, 0, "connection: close\r\n"));
    }

    private static String head(int status, int length, String fields) {
        return "HTTP/1.1 " + status + " x\r\ncontent-length: " + length + "\r\n" + fields + "\r\n";
    }

    ByteBuf settings(int streams) {
        boolean first = !ready;
        ready = true;
        maxStreams = streams;
        ByteBuf frame = Unpooled.buffer();
        frame.writeMedium(6).writeByte(SETTINGS).writeByte(0).writeInt(0);
        frame.writeShort(MAX_CONCURRENT_STREAMS).writeInt(streams);
        return first ? Unpooled.wrappedBuffer(frame, frame(SETTINGS, ACK, 0)) : frame;
    }

    ByteBuf resetStream(int stream, int code) {
        refuses |= code == REFUSED_STREAM;
        asked.remove(stream);
        return frame(RST_STREAM, 0, stream, (byte) 0, (byte) 0, (byte) 0, (byte) code);
    }

    /** Returns what says that it takes no stream behind this one, nor behind one that it has named before. */
    ByteBuf goAway(int last) {
        goingAway = true;
        lastTaken = Math.min(last, lastTaken);
        asked.keySet().removeIf(stream -> stream > lastTaken);
        ByteBuf frame = Unpooled.buffer();
        return frame.writeMedium(8)
                .writeByte(GOAWAY)
                .writeByte(0)
                .writeInt(0)
                .writeInt(lastTaken)
                .writeInt(0);
    }

    private static byte[] block(int status) {
        byte[] digits = Integer.toString(status).getBytes(StandardCharsets.US_ASCII);
        return new byte[] {8, 3, digits[0], digits[1], digits[2]}; // :status, from the static table, not indexed
    }

    private static ByteBuf frame(int type, int flags, int stream, byte... payload) {
        ByteBuf frame = Unpooled.buffer(FRAME_HEAD + payload.length);
        frame.writeMedium(payload.length).writeByte(type).writeByte(flags).writeInt(stream);
        return frame.writeBytes(payload);
    }

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    }
}
