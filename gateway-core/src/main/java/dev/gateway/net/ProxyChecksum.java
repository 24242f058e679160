package dev.gateway.net;

import io.netty.buffer.ByteBuf;
import java.util.zip.CRC32C;

/** The checksum that a PROXY protocol header of version 2 may have, and that its receiver must then verify. */
final class ProxyChecksum {
    /** The bytes before the addresses. */
    static final int PREFIX = 16;

    private static final int COMMAND = 12;
    private static final int PROXY = 0x21;
    private static final int TYPE = 3; // PP2_TYPE_CRC32C
    private static final int TLV_PREFIX = 3; // a type and a length
    private static final byte[] ABSENT = new byte[4]; // stands for it while it is computed

    private ProxyChecksum() {}

    /**
     * Whether a header has one that does not fit. Those that stand for no client have nothing that could be wrong.
     *
     * @param in has the header from its reader index on
     * @param length of the whole header
     */
    static boolean isWrong(ByteBuf in, int length) {
        int begin = in.readerIndex();
        int addresses = in.getUnsignedByte(begin + COMMAND) == PROXY ? addresses(in.getByte(begin + COMMAND + 1)) : -1;
        if (addresses < 0) {
            return false;
        }
        int end = begin + length;
        int at = begin + PREFIX + addresses;
        while (at + TLV_PREFIX <= end) {
            int value = at + TLV_PREFIX;
            int next = value + in.getUnsignedShort(at + 1);
            if (in.getByte(at) == TYPE && next <= end && isWrong(in, begin, value, next, end)) {
                return true;
            }
            at = next; // Netty's decoder refuses one that is longer than the header
        }
        return false;
    }

    /** Returns how many bytes a header has for two addresses of a family, or -1 if that family has no addresses. */
    private static int addresses(byte familyAndProtocol) {
        return switch (familyAndProtocol >> 4) {
            case 1 -> 12; // IPv4
            case 2 -> 36; // IPv6
            case 3 -> 216; // paths of Unix-domain sockets
            default -> -1;
        };
    }

    private static boolean isWrong(ByteBuf in, int begin, int value, int next, int end) {
        if (next - value != ABSENT.length) {
            return true;
        }
        CRC32C sum = new CRC32C();
        sum.update(in.nioBuffer(begin, value - begin));
        sum.update(ABSENT);
        sum.update(in.nioBuffer(next, end - next));
        return (int) sum.getValue() != in.getInt(value);
    }
}
