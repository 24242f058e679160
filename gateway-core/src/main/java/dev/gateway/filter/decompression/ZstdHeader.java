package dev.gateway.filter.decompression;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** Incremental reader of the header of a frame (RFC 8878, sections 3.1.1.1 and 3.1.2). */
final class ZstdHeader {
    /** What RFC 9659 allows in HTTP. */
    static final long MAX_WINDOW = 8 << 20;

    private static final int LONGEST = 18;
    private static final int FRAME = 0xfd2fb528;
    private static final int SKIPPABLE = 0x184d2a50; // and 15 more
    private static final int MAGIC = 4;
    private static final int DESCRIPTOR_AT = 4;
    private static final int SKIPPABLE_HEADER = 8;
    private static final int SINGLE_SEGMENT = 1 << 5;
    private static final int RESERVED = 1 << 3;
    private static final int[] DICTIONARY_ID_LENGTHS = {0, 1, 2, 4};
    private static final int[] CONTENT_SIZE_LENGTHS = {0, 2, 4, 8};

    private final byte[] bytes = new byte[LONGEST];
    private int at; // number of bytes read
    private int length; // of the header, as far as it is known

    ZstdHeader() {
        start();
    }

    /** Begins another header. */
    void start() {
        at = 0;
        length = MAGIC;
    }

    /** Reads the available bytes that belong to it; returns whether it is complete. Not called for an invalid one. */
    boolean read(ByteBuf in) {
        while (at < length && in.isReadable()) {
            bytes[at++] = in.readByte();
            if (at == MAGIC) {
                length = isSkippable() ? SKIPPABLE_HEADER : isFrame() ? MAGIC + 1 : MAGIC;
            } else if (at == DESCRIPTOR_AT + 1 && isFrame()) {
                length = at + (isSingle() ? 0 : 1) + dictionaryIdLength() + contentSizeLength();
            }
        }
        return at == length;
    }

    /** Whether no byte has been read. */
    boolean isEmpty() {
        return at == 0;
    }

    /** Returns its bytes, once it is complete. The caller releases them. */
    ByteBuf copy(ByteBuf like) {
        return like.alloc().directBuffer(length).writeBytes(bytes, 0, length);
    }

    /** Returns why the frame is refused, once the header is complete; null if it is not. */
    @Nullable
    String problem() {
        if (isSkippable()) {
            return null;
        } else if (!isFrame() || (bytes[DESCRIPTOR_AT] & RESERVED) != 0) {
            return "a header is wrong";
        } else if (littleEndian(dictionaryIdAt(), dictionaryIdLength()) != 0) {
            return "it needs a dictionary";
        }
        long window = window();
        return window < 0 || window > MAX_WINDOW ? "it needs a window of more than 8 MiB (RFC 9659)" : null;
    }

    /** Whether decompressors skip the frame. */
    boolean isSkippable() {
        return ((int) littleEndian(0, MAGIC) & ~0xf) == SKIPPABLE;
    }

    /** Returns how many bytes of a skippable frame follow. */
    long skipped() {
        return littleEndian(MAGIC, SKIPPABLE_HEADER - MAGIC);
    }

    /** Returns how many bytes of output a decompressor must keep; negative if more than a long can tell. */
    long window() {
        if (isSingle()) {
            int count = contentSizeLength();
            return littleEndian(dictionaryIdAt() + dictionaryIdLength(), count) + (count == 2 ? 256 : 0);
        }
        int value = bytes[DESCRIPTOR_AT + 1] & 0xff;
        long base = 1L << (10 + (value >> 3));
        return base + (base >> 3) * (value & 7);
    }

    private boolean isFrame() {
        return (int) littleEndian(0, MAGIC) == FRAME;
    }

    private boolean isSingle() {
        return (bytes[DESCRIPTOR_AT] & SINGLE_SEGMENT) != 0;
    }

    private int dictionaryIdAt() {
        return DESCRIPTOR_AT + (isSingle() ? 1 : 2);
    }

    private int dictionaryIdLength() {
        return DICTIONARY_ID_LENGTHS[bytes[DESCRIPTOR_AT] & 3];
    }

    private int contentSizeLength() {
        int flag = (bytes[DESCRIPTOR_AT] & 0xff) >> 6;
        return flag == 0 && isSingle() ? 1 : CONTENT_SIZE_LENGTHS[flag];
    }

    private long littleEndian(int from, int count) {
        long value = 0;
        for (int i = count - 1; i >= 0; i--) {
            value = value << Byte.SIZE | (bytes[from + i] & 0xff);
        }
        return value;
    }
}
