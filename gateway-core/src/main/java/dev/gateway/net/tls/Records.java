package dev.gateway.net.tls;

import io.netty.buffer.ByteBuf;

/** Follows the headers of TLS records in what is read of a connection, and copies nothing. */
final class Records {
    // RFC 8446, section 5.1: the length is last.
    private static final int HEADER = 5;
    private static final int LENGTH_AT = 3;

    private int length; // of the last record, without its header
    private int rest; // how much of it is still to come
    private int begun; // bytes of the next record's header that have come, fewer than all
    private boolean completed;

    /** Looks at what was read. */
    void read(ByteBuf data) {
        int readable = data.readableBytes();
        if (readable < rest) {
            rest -= readable;
        } else {
            walk(data);
        }
    }

    /** Goes from header to header. */
    private void walk(ByteBuf data) {
        int end = data.writerIndex();
        int at = data.readerIndex() + rest;
        completed = true;
        while (at < end) {
            if (begun == 0 && end - at >= HEADER) {
                length = data.getUnsignedShort(at + LENGTH_AT);
                at += HEADER + length;
            } else {
                int next = data.getUnsignedByte(at++);
                if (++begun == HEADER - 1) {
                    length = next << 8;
                } else if (begun == HEADER) {
                    length |= next;
                    at += length;
                    begun = 0;
                }
            }
        }
        rest = at - end;
    }

    /** Returns how much of a record is still to come, 0 if none has begun. */
    int rest() {
        return rest;
    }

    /** Returns what a record takes that has begun: the TLS handler makes room for all of it as soon as its length is known. */
    int held() {
        return rest > 0 ? HEADER + length : 0;
    }

    /** Returns whether a record was completed since the last call. */
    boolean takeCompleted() {
        boolean was = completed;
        completed = false;
        return was;
    }
}
