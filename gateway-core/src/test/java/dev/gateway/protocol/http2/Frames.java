package dev.gateway.protocol.http2;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;

/** Writes and reads HTTP/2 frames byte by byte, knowing nothing of the code under test. */
final class Frames {
    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int PRIORITY = 2;
    static final int RST_STREAM = 3;
    static final int SETTINGS = 4;
    static final int PUSH_PROMISE = 5;
    static final int PING = 6;
    static final int GOAWAY = 7;
    static final int WINDOW_UPDATE = 8;
    static final int CONTINUATION = 9;
    static final int END_STREAM = 1;
    static final int ACK = 1;
    static final int END_HEADERS = 4;
    static final int PADDED = 8;

    private Frames() {}

    /** A frame as it was read. */
    record Frame(int type, int flags, int stream, ByteBuf payload) {
        int number(int at) {
            return payload.getInt(at);
        }
    }

    static ByteBuf preface() {
        return Unpooled.wrappedBuffer(
                Unpooled.copiedBuffer("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ISO_8859_1), frame(SETTINGS, 0, 0));
    }

    static ByteBuf frame(int type, int flags, int stream, byte... payload) {
        ByteBuf out = Unpooled.buffer(9 + payload.length);
        out.writeMedium(payload.length).writeByte(type).writeByte(flags).writeInt(stream);
        return out.writeBytes(payload);
    }

    static byte[] number(int value) {
        return new byte[] {(byte) (value >> 24), (byte) (value >> 16), (byte) (value >> 8), (byte) value};
    }

    /** A header block of literals without indexing: names and values in turn. */
    static byte[] block(String... fields) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int i = 0; i < fields.length; i += 2) {
            out.write(0);
            literal(out, fields[i]);
            literal(out, fields[i + 1]);
        }
        return out.toByteArray();
    }

    private static void literal(ByteArrayOutputStream out, String text) {
        byte[] bytes = text.getBytes(ISO_8859_1);
        if (bytes.length < 127) {
            out.write(bytes.length);
        } else {
            out.write(127);
            int rest = bytes.length - 127;
            for (; rest > 127; rest >>= 7) {
                out.write((rest & 127) | 128);
            }
            out.write(rest);
        }
        out.writeBytes(bytes);
    }

    static byte[] get(String... more) {
        List<String> all = new ArrayList<>(
                List.of(":method", "GET", ":scheme", "http", ":path", "/", ":authority", "example.org"));
        all.addAll(List.of(more));
        return block(all.toArray(new String[0]));
    }

    static byte[] post(String... more) {
        List<String> all = new ArrayList<>(
                List.of(":method", "POST", ":scheme", "http", ":path", "/", ":authority", "example.org"));
        all.addAll(List.of(more));
        return block(all.toArray(new String[0]));
    }

    /** Takes all whole frames out of a buffer. */
    static List<Frame> read(ByteBuf in) {
        List<Frame> frames = new ArrayList<>();
        while (in.readableBytes() >= 9) {
            int length = in.readUnsignedMedium();
            int type = in.readUnsignedByte();
            int flags = in.readUnsignedByte();
            int stream = in.readInt();
            ByteBuf payload = Unpooled.copiedBuffer(in.readSlice(length));
            frames.add(new Frame(type, flags, stream, payload));
        }
        return frames;
    }
}
