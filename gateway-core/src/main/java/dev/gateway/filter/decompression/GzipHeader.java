package dev.gateway.filter.decompression;

import io.netty.buffer.ByteBuf;

/** Incremental reader of the header of a gzip member (RFC 1952, section 2.3). Stores none of it, so any length is safe. */
final class GzipHeader {
    private static final int[] MAGIC = {0x1f, 0x8b, 8};
    private static final int FIXED = 10;
    private static final int FLAGS_AT = 3;

    private static final int HAS_CRC = 1 << 1;
    private static final int HAS_EXTRA = 1 << 2;
    private static final int HAS_NAME = 1 << 3;
    private static final int HAS_COMMENT = 1 << 4;
    private static final int RESERVED = 0xe0;

    private enum Part {
        FIXED,
        EXTRA_LENGTH,
        EXTRA,
        NAME,
        COMMENT,
        CRC,
        END,
        INVALID
    }

    private Part part = Part.FIXED;
    private int at; // number of bytes read of the part
    private int flags;
    private int extra; // length of the extra field

    /** Begins another header. */
    void start() {
        part = Part.FIXED;
        at = 0;
    }

    /** Reads the available bytes; returns whether the header is complete. */
    boolean read(ByteBuf in) {
        while (part != Part.END && part != Part.INVALID && in.isReadable()) {
            take(in.readUnsignedByte());
        }
        return part == Part.END;
    }

    boolean isInvalid() {
        return part == Part.INVALID;
    }

    private void take(int value) {
        int position = at++;
        switch (part) {
            case FIXED -> takeFixed(position, value);
            case EXTRA_LENGTH -> {
                extra = position == 0 ? value : extra | value << Byte.SIZE;
                if (position == 1) {
                    begin(extra > 0 ? Part.EXTRA : after(Part.EXTRA));
                }
            }
            case EXTRA -> {
                if (position + 1 == extra) {
                    begin(after(Part.EXTRA));
                }
            }
            case NAME, COMMENT -> {
                if (value == 0) {
                    begin(after(part));
                }
                at = 0; // a name may have any length
            }
            case CRC -> {
                if (position == 1) {
                    begin(Part.END);
                }
            }
            case END, INVALID -> throw new IllegalStateException("it has ended");
        }
    }

    private void takeFixed(int position, int value) {
        if (position == FLAGS_AT) {
            flags = value;
        }
        boolean wrong = position < MAGIC.length && value != MAGIC[position];
        if (wrong || (position == FLAGS_AT && (value & RESERVED) != 0)) {
            part = Part.INVALID;
        } else if (position + 1 == FIXED) {
            begin(after(Part.FIXED));
        }
    }

    private void begin(Part next) {
        part = next;
        at = 0;
    }

    private Part after(Part before) {
        return switch (before) {
            case FIXED -> has(HAS_EXTRA) ? Part.EXTRA_LENGTH : after(Part.EXTRA);
            case EXTRA_LENGTH, EXTRA -> has(HAS_NAME) ? Part.NAME : after(Part.NAME);
            case NAME -> has(HAS_COMMENT) ? Part.COMMENT : after(Part.COMMENT);
            case COMMENT -> has(HAS_CRC) ? Part.CRC : Part.END;
            case CRC, END, INVALID -> Part.END;
        };
    }

    private boolean has(int flag) {
        return (flags & flag) != 0;
    }
}
