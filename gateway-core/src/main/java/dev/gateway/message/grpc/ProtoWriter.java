package dev.gateway.message.grpc;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;

/**
 * Writes one message of protocol buffers (proto3), field by field. Leaves out what has its default value, as encoders of
 * proto3 do. Used by one thread.
 */
public final class ProtoWriter {
    private final ByteBuf out = Unpooled.buffer(); // of the heap: needs no release

    /** Adds a number, also of an enumeration. */
    public ProtoWriter number(int field, long value) {
        if (value != 0) {
            varint((long) field << 3 | ProtoReader.VARINT);
            varint(value);
        }
        return this;
    }

    /** Adds a text. */
    public ProtoWriter text(int field, String text) {
        return bytes(field, text.getBytes(StandardCharsets.UTF_8));
    }

    /** Adds the bytes that a peer has sent as a text. What is no UTF-8 is replaced: a decoder refuses such a text. */
    public ProtoWriter text(int field, AsciiString text) {
        byte[] bytes = text.toByteArray();
        return ByteBufUtil.isText(Unpooled.wrappedBuffer(bytes), StandardCharsets.UTF_8)
                ? bytes(field, bytes)
                : text(field, new String(bytes, StandardCharsets.UTF_8));
    }

    private ProtoWriter bytes(int field, byte[] bytes) {
        if (bytes.length > 0) {
            prefix(field, bytes.length);
            out.writeBytes(bytes);
        }
        return this;
    }

    /** Adds a message, also an empty one. */
    public ProtoWriter message(int field, ProtoWriter message) {
        prefix(field, message.out.readableBytes());
        out.writeBytes(message.out.duplicate());
        return this;
    }

    private void prefix(int field, int length) {
        varint((long) field << 3 | ProtoReader.LENGTH_DELIMITED);
        varint(length);
    }

    private void varint(long value) {
        long left = value;
        while ((left & ~0x7fL) != 0) {
            out.writeByte(((int) left & 0x7f) | 0x80);
            left >>>= 7;
        }
        out.writeByte((int) left);
    }

    /** Returns the message in the framing of gRPC, not compressed. It shares nothing with this, and the caller owns it. */
    public ByteBuf framed() {
        int length = out.readableBytes();
        return Unpooled.buffer(GrpcCall.PREFIX + length)
                .writeByte(0)
                .writeInt(length)
                .writeBytes(out.duplicate());
    }
}
