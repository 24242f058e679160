package dev.gateway.message.grpc;

import io.netty.buffer.ByteBuf;

/**
 * Reads one message of protocol buffers field by field, without copying it; skips those that nobody asks for, as of later
 * versions. Valid as long as its buffer. Used by one thread.
 */
public final class ProtoReader {
    static final int VARINT = 0;
    static final int LENGTH_DELIMITED = 2;
    private static final int FIXED64 = 1;
    private static final int FIXED32 = 5;

    private final ByteBuf in;
    private int field;
    private int wireType;
    private boolean taken = true;

    private ProtoReader(ByteBuf in) {
        this.in = in;
    }

    /**
     * Opens the only message of a gRPC answer.
     *
     * @param body still owned by the caller, and read
     */
    public static ProtoReader open(ByteBuf body) throws MalformedMessageException {
        if (body.readableBytes() < GrpcCall.PREFIX) {
            throw new MalformedMessageException("without a message");
        } else if (body.readByte() != 0) {
            throw new MalformedMessageException("with a compressed message");
        } else if (body.readInt() != body.readableBytes()) {
            throw new MalformedMessageException(MalformedMessageException.BROKEN);
        }
        return new ProtoReader(body);
    }

    /** Goes to the next field; returns false at the end of the message. */
    public boolean next() throws MalformedMessageException {
        if (!taken) {
            skip();
        }
        if (!in.isReadable()) {
            return false;
        }
        long tag = varint();
        if (tag >>> 3 == 0 || tag >>> 3 >= 1 << 29) {
            throw broken();
        }
        field = (int) (tag >>> 3);
        wireType = (int) tag & 7;
        taken = false;
        return true;
    }

    /** Returns the number of the field. */
    public int field() {
        return field;
    }

    /** Returns the value of the field, a number, and goes past it. */
    public long number() throws MalformedMessageException {
        take(VARINT);
        return varint();
    }

    /** Returns the value of the field, a text or bytes, and goes past it. It is a view of the message. */
    public ByteBuf bytes() throws MalformedMessageException {
        take(LENGTH_DELIMITED);
        return in.readSlice(length());
    }

    /** Returns the value of the field, a message, and goes past it. */
    public ProtoReader message() throws MalformedMessageException {
        return new ProtoReader(bytes());
    }

    private void take(int expected) throws MalformedMessageException {
        if (wireType != expected) {
            throw broken();
        }
        taken = true;
    }

    private void skip() throws MalformedMessageException {
        switch (wireType) {
            case VARINT -> varint();
            case FIXED64 -> in.skipBytes(within(Long.BYTES));
            case LENGTH_DELIMITED -> in.skipBytes(length());
            case FIXED32 -> in.skipBytes(within(Integer.BYTES));
            default -> throw broken(); // groups, which proto3 does not have
        }
    }

    private int length() throws MalformedMessageException {
        return within(varint());
    }

    private int within(long length) throws MalformedMessageException {
        if (length < 0 || length > in.readableBytes()) {
            throw broken();
        }
        return (int) length;
    }

    private long varint() throws MalformedMessageException {
        long value = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            within(1);
            byte next = in.readByte();
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw broken();
    }

    private static MalformedMessageException broken() {
        return new MalformedMessageException(MalformedMessageException.BROKEN);
    }
}
