package dev.gateway.health;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The messages of {@code grpc.health.v1.Health/Check}, in the length-prefixed framing of gRPC. They are so small that this
 * class writes and reads them without a library for protocol buffers.
 */
final class HealthMessage {
    private static final int PREFIX = 5; // a compression flag, and the length
    private static final int LENGTH_DELIMITED = 2;
    private static final int SERVICE = (1 << 3) | LENGTH_DELIMITED; // HealthCheckRequest.service
    private static final int STATUS = 1 << 3; // HealthCheckResponse.status, a varint
    private static final int SERVING = 1;
    private static final int MOST_BYTES = 1024;

    private final byte[] bytes = new byte[MOST_BYTES];
    private int length; // MOST_BYTES + 1 if the message is too long

    /** Returns the framed request for a service; an empty name means the whole server. */
    static ByteBuf request(String service) {
        byte[] name = service.getBytes(StandardCharsets.UTF_8);
        ByteBuf message = Unpooled.buffer(PREFIX + 6 + name.length);
        message.writeByte(0).writeInt(0);
        if (name.length > 0) {
            message.writeByte(SERVICE);
            writeVarint(message, name.length);
            message.writeBytes(name);
        }
        return message.setInt(1, message.readableBytes() - PREFIX);
    }

    private static void writeVarint(ByteBuf to, int value) {
        int left = value;
        while (left >= 0x80) {
            to.writeByte((left & 0x7f) | 0x80);
            left >>>= 7;
        }
        to.writeByte(left);
    }

    /** Adds a part of the response. The caller still owns the buffer. */
    void add(ByteBuf data) {
        int size = data.readableBytes();
        if (length + size <= MOST_BYTES) {
            data.getBytes(data.readerIndex(), bytes, length, size);
            length += size;
        } else {
            length = MOST_BYTES + 1;
        }
    }

    /** Returns why the complete response does not say that the service is healthy, null if it does. */
    @Nullable
    String failure() {
        if (length > MOST_BYTES) {
            return "answered with a message that is too long";
        }
        ByteBuf in = Unpooled.wrappedBuffer(bytes, 0, length);
        if (length < PREFIX) {
            return "answered without a message";
        } else if (in.readByte() != 0) {
            return "answered with a compressed message";
        } else if (in.readInt() != in.readableBytes()) {
            return "answered with a broken message";
        }
        try {
            long status = status(in);
            return status == SERVING ? null : "answered " + word(status);
        } catch (IndexOutOfBoundsException e) {
            return "answered with a broken message";
        }
    }

    /** Returns the last status in a message, 0 if it has none. Ignores other fields. */
    private static long status(ByteBuf in) {
        long status = 0;
        while (in.isReadable()) {
            long tag = readVarint(in);
            long value = 0;
            switch ((int) (tag & 7)) {
                case 0 -> value = readVarint(in);
                case 1 -> in.skipBytes(Long.BYTES);
                case LENGTH_DELIMITED -> in.skipBytes(length(in));
                case 5 -> in.skipBytes(Integer.BYTES);
                default -> throw new IndexOutOfBoundsException("a wire type that there is not");
            }
            if (tag == STATUS) {
                status = value;
            }
        }
        return status;
    }

    private static int length(ByteBuf in) {
        long wanted = readVarint(in);
        if (wanted < 0 || wanted > in.readableBytes()) {
            throw new IndexOutOfBoundsException("a length beyond the message");
        }
        return (int) wanted;
    }

    private static long readVarint(ByteBuf in) {
        long value = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            byte next = in.readByte();
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw new IndexOutOfBoundsException("a number that is too long");
    }

    private static String word(long status) {
        if (status == 0) {
            return "UNKNOWN";
        } else if (status == 2) {
            return "NOT_SERVING";
        }
        return status == 3 ? "SERVICE_UNKNOWN" : "the serving status " + status;
    }
}
