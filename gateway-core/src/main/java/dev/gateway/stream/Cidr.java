package dev.gateway.stream;

import io.netty.util.NetUtil;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * A block of IP addresses such as {@code 10.0.0.0/8} or {@code ::1} (RFC 4632, RFC 4291). An IPv4 block holds the
 * IPv4-mapped IPv6 addresses too, as a dual-stack socket tells them.
 *
 * @param startHigh the upper half of the first address; IPv4 as IPv4-mapped IPv6
 * @param startLow the lower half of the first address
 * @param endHigh the upper half of the last address
 * @param endLow the lower half of the last address
 */
public record Cidr(long startHigh, long startLow, long endHigh, long endLow) {
    /** Reads a block, or a single address; returns null if it is neither, or has bits set behind its prefix. */
    public static @Nullable Cidr parse(String text) {
        int slash = text.indexOf('/');
        byte[] address = NetUtil.createByteArrayFromIpAddressString(slash < 0 ? text : text.substring(0, slash));
        if (address == null || text.indexOf('[') >= 0) {
            return null;
        }
        int bits = address.length * 8;
        int prefix = slash < 0 ? bits : parsePrefix(text.substring(slash + 1), bits);
        if (prefix < 0) {
            return null;
        }
        prefix += 128 - bits;
        long highMask = prefix == 0 ? 0 : prefix >= 64 ? -1 : -1L << (64 - prefix);
        long lowMask = prefix <= 64 ? 0 : prefix == 128 ? -1 : -1L << (128 - prefix);
        long high = high(address);
        long low = low(address);
        if ((high & ~highMask) != 0 || (low & ~lowMask) != 0) {
            return null;
        }
        return new Cidr(high, low, high | ~highMask, low | ~lowMask);
    }

    private static int parsePrefix(String text, int bits) {
        if (text.isEmpty() || text.length() > 3) {
            return -1;
        }
        int prefix = 0;
        for (int i = 0; i < text.length(); i++) {
            int digit = text.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return -1;
            }
            prefix = prefix * 10 + digit;
        }
        return prefix <= bits ? prefix : -1;
    }

    /** Whether the address is in the block. */
    public boolean contains(InetAddress address) {
        byte[] bytes = address.getAddress();
        return contains(high(bytes), low(bytes));
    }

    /** Whether an address is in both blocks. */
    public boolean overlaps(Cidr other) {
        return contains(other.startHigh, other.startLow) || other.contains(startHigh, startLow);
    }

    boolean contains(long high, long low) {
        return isAtMost(startHigh, startLow, high, low) && isAtMost(high, low, endHigh, endLow);
    }

    static boolean isAtMost(long high, long low, long otherHigh, long otherLow) {
        int order = Long.compareUnsigned(high, otherHigh);
        return order < 0 || (order == 0 && Long.compareUnsigned(low, otherLow) <= 0);
    }

    static long high(byte[] address) {
        return address.length == 4 ? 0 : bits(address, 0, 8);
    }

    static long low(byte[] address) {
        return address.length == 4 ? 0xFFFF_0000_0000L | bits(address, 0, 4) : bits(address, 8, 8);
    }

    private static long bits(byte[] bytes, int from, int count) {
        long value = 0;
        for (int i = 0; i < count; i++) {
            value = value << 8 | (bytes[from + i] & 0xFF);
        }
        return value;
    }
}
