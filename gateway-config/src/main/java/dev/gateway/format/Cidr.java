package dev.gateway.format;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;

/**
 * A block of IP addresses such as {@code 10.0.0.0/8} or {@code ::1} (RFC 4632, RFC 4291). An IPv4 block holds the
 * IPv4-mapped IPv6 addresses too, as a dual-stack socket tells them; an IPv6 block holds no IPv4 address, however large it
 * is. Immutable.
 */
public final class Cidr {
    private static final int MAPPED_BITS = 96; // that lie before the IPv4 address in an IPv4-mapped one

    private final InetAddress network;
    private final int prefixLength;

    /** The halves of the first and of the last address; IPv4 as IPv4-mapped IPv6. */
    final long startHigh;

    final long startLow;
    final long endHigh;
    final long endLow;

    private Cidr(long high, long low, int prefix, boolean ipv4) {
        long highMask = highMask(prefix);
        long lowMask = lowMask(prefix);
        startHigh = high & highMask;
        startLow = low & lowMask;
        endHigh = high | ~highMask;
        endLow = low | ~lowMask;
        network = address(startHigh, startLow, ipv4);
        prefixLength = ipv4 ? prefix - MAPPED_BITS : prefix;
    }

    /**
     * Reads a block, or a single address, as programs write it. Returns null if it is neither, or has bits set behind its
     * prefix. The prefix of an IPv4-mapped address counts all of its 128 bits.
     */
    public static @Nullable Cidr parse(String text) {
        return read(text, false);
    }

    /**
     * Reads a block, or a single address, as people write it: bits that are set behind its prefix are cleared, so
     * {@code 10.1.2.3/8} is all of {@code 10.0.0.0/8}. Returns null if it is neither. An IPv4-mapped address is the IPv4
     * address in it, and so is its prefix.
     */
    public static @Nullable Cidr parseMasked(String text) {
        return read(text, true);
    }

    private static @Nullable Cidr read(String text, boolean masked) {
        int slash = text.indexOf('/');
        InetAddress address = IpLiteral.parse(slash < 0 ? text : text.substring(0, slash));
        if (address == null) {
            return null;
        }
        boolean ipv4 = address instanceof Inet4Address;
        int before = ipv4 && (masked || text.indexOf(':') < 0) ? MAPPED_BITS : 0;
        int prefix = slash < 0 ? 128 : before + prefix(text.substring(slash + 1), 128 - before);
        if (prefix < (ipv4 ? MAPPED_BITS : 0)) {
            return null;
        }
        byte[] bytes = address.getAddress();
        Cidr block = new Cidr(high(bytes), low(bytes), prefix, ipv4);
        return masked || block.network.equals(address) ? block : null;
    }

    /** Returns a number up to a limit, or one far below zero. */
    private static int prefix(String digits, int limit) {
        if (digits.isEmpty() || digits.length() > 3) {
            return Integer.MIN_VALUE;
        }
        int prefix = 0;
        for (int i = 0; i < digits.length(); i++) {
            int digit = digits.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return Integer.MIN_VALUE;
            }
            prefix = prefix * 10 + digit;
        }
        return prefix <= limit ? prefix : Integer.MIN_VALUE;
    }

    private static long highMask(int prefix) {
        return prefix == 0 ? 0 : prefix >= 64 ? -1 : -1L << (64 - prefix);
    }

    private static long lowMask(int prefix) {
        return prefix <= 64 ? 0 : prefix == 128 ? -1 : -1L << (128 - prefix);
    }

    private static InetAddress address(long high, long low, boolean ipv4) {
        byte[] bytes = new byte[ipv4 ? 4 : 16];
        for (int i = 0; i < bytes.length; i++) {
            int behind = bytes.length - 1 - i;
            bytes[i] = (byte) (behind < 8 ? low >>> (8 * behind) : high >>> (8 * (behind - 8)));
        }
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e); // only of another length
        }
    }

    /** Returns the first address of the block. */
    public InetAddress network() {
        return network;
    }

    /** Returns how many leading bits are common to the block: of 32 in IPv4, of 128 in IPv6. */
    public int prefixLength() {
        return prefixLength;
    }

    /** Whether it has one address only. */
    public boolean isSingle() {
        return startHigh == endHigh && startLow == endLow;
    }

    /** Whether the address is in the block. */
    public boolean contains(InetAddress address) {
        byte[] bytes = address.getAddress();
        return contains(high(bytes), low(bytes));
    }

    /** Whether it is of the same family as another block, and has all of its addresses. */
    public boolean covers(Cidr other) {
        return network.getClass() == other.network.getClass()
                && prefixLength <= other.prefixLength
                && contains(other.startHigh, other.startLow);
    }

    /** Whether an address is in both blocks. */
    public boolean overlaps(Cidr other) {
        return contains(other.startHigh, other.startLow) || other.contains(startHigh, startLow);
    }

    /** Whether it is a block of IPv4 addresses. */
    boolean isIpv4() {
        return network instanceof Inet4Address;
    }

    static boolean isIpv4(long high, long low) {
        return high == 0 && low >>> 32 == 0xFFFF;
    }

    boolean contains(long high, long low) {
        return isIpv4() == isIpv4(high, low)
                && isAtMost(startHigh, startLow, high, low)
                && isAtMost(high, low, endHigh, endLow);
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

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Cidr block && network.equals(block.network) && prefixLength == block.prefixLength;
    }

    @Override
    public int hashCode() {
        return network.hashCode() * 31 + prefixLength;
    }

    /** Returns the block with its first address, as it may be written. */
    @Override
    public String toString() {
        return network.getHostAddress() + "/" + prefixLength;
    }
}
