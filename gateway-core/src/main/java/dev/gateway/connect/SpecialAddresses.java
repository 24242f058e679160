package dev.gateway.connect;

import dev.gateway.format.IpLiteral;
import io.netty.util.NetUtil;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Tells addresses that are public from those that lead to this machine, this network, many machines, or nowhere: the
 * special-purpose registries of IPv4 and IPv6 (RFC 6890), and where clouds put what they tell their machines.
 */
final class SpecialAddresses {
    private record Block4(int network, int prefix, String what) {
        boolean contains(int address) {
            return (address ^ network) >>> (32 - prefix) == 0;
        }
    }

    private record Block6(long network, int prefix, String what) {
        boolean contains(long high) {
            return (high ^ network) >>> (64 - prefix) == 0;
        }
    }

    private static final Block4[] IPV4 = {
        block("0.0.0.0", 8, "this network"),
        block("10.0.0.0", 8, "private"),
        block("100.64.0.0", 10, "shared by a provider's customers"),
        block("127.0.0.0", 8, "loopback"),
        block("168.63.129.16", 32, "a cloud's metadata"),
        block("169.254.0.0", 16, "link-local"),
        block("172.16.0.0", 12, "private"),
        block("192.0.0.0", 24, "for protocols"),
        block("192.0.2.0", 24, "documentation"),
        block("192.88.99.0", 24, "6to4 relays"),
        block("192.168.0.0", 16, "private"),
        block("198.18.0.0", 15, "benchmarking"),
        block("198.51.100.0", 24, "documentation"),
        block("203.0.113.0", 24, "documentation"),
        block("224.0.0.0", 4, "multicast"),
        block("240.0.0.0", 4, "reserved or broadcast"),
    };

    /** Upper halves of addresses. What is not in 2000::/3 is never public; these are named for what they are. */
    private static final Block6[] IPV6 = {
        new Block6(0xfe80_0000_0000_0000L, 10, "link-local"),
        new Block6(0xfec0_0000_0000_0000L, 10, "site-local"),
        new Block6(0xfc00_0000_0000_0000L, 7, "unique local"),
        new Block6(0xff00_0000_0000_0000L, 8, "multicast"),
        new Block6(0x0064_ff9b_0001_0000L, 48, "NAT64 for local use"),
        new Block6(0x2001_0db8_0000_0000L, 32, "documentation"),
        new Block6(0x3fff_0000_0000_0000L, 20, "documentation"),
        new Block6(0x2001_0002_0000_0000L, 48, "benchmarking"),
        new Block6(0x2001_0000_0000_0000L, 32, ""), // Teredo: as the addresses inside
        new Block6(0x2001_0000_0000_0000L, 23, "for protocols"),
    };

    private static final long NAT64 = 0x0064_ff9b_0000_0000L;

    private SpecialAddresses() {}

    private static Block4 block(String network, int prefix, String what) {
        InetAddress address = IpLiteral.parse4(network);
        if (address == null) {
            throw new IllegalArgumentException(network);
        }
        return new Block4(word(address.getAddress(), 0), prefix, what);
    }

    /** Returns the blocks of addresses that are not public, except for those of IPv6 outside of 2000::/3, as text. */
    static List<String> blocks() {
        List<String> blocks = new ArrayList<>();
        for (Block4 block : IPV4) {
            blocks.add(ipv4(block.network).getHostAddress() + "/" + block.prefix);
        }
        for (Block6 block : IPV6) {
            if (!block.what.isEmpty()) {
                blocks.add(ipv6(block.network) + "/" + block.prefix);
            }
        }
        blocks.add("::/127");
        return blocks;
    }

    /** Returns what kind of address it is if it is not public, else null. */
    static @Nullable String kind(InetAddress address) {
        byte[] bytes = address.getAddress();
        if (bytes.length == 4) {
            return kind4(word(bytes, 0));
        }
        for (InetAddress inside : embedded(address)) {
            String kind = kind4(word(inside.getAddress(), 0));
            if (kind != null) {
                return kind + ", as " + inside.getHostAddress();
            }
        }
        return kind6(bytes);
    }

    private static @Nullable String kind4(int address) {
        for (Block4 block : IPV4) {
            if (block.contains(address)) {
                return block.what;
            }
        }
        return null;
    }

    private static @Nullable String kind6(byte[] bytes) {
        long high = half(bytes, 0);
        long low = half(bytes, 8);
        if (high == 0 && low >>> 32 == 0) {
            return low == 1 ? "loopback" : low == 0 ? "unspecified" : "IPv4-compatible";
        }
        for (Block6 block : IPV6) {
            if (block.contains(high)) {
                return block.what.isEmpty() ? null : block.what;
            }
        }
        boolean mapped = high == 0 && low >>> 32 == 0xffff;
        boolean nat64 = high == NAT64 && low >>> 32 == 0;
        return high >>> 61 == 1 || mapped || nat64 ? null : "not global";
    }

    /** Returns the IPv4 addresses that an IPv6 address stands for, or is reached through. */
    static List<InetAddress> embedded(InetAddress address) {
        if (address instanceof Inet4Address) {
            return List.of();
        }
        byte[] bytes = address.getAddress();
        long high = half(bytes, 0);
        long low = half(bytes, 8);
        List<InetAddress> found = new ArrayList<>(2);
        if (high == 0 && (low >>> 32 == 0xffff || low >>> 32 == 0xffff_0000L || (low >>> 32 == 0 && low > 1))) {
            found.add(ipv4(word(bytes, 12))); // IPv4-mapped, IPv4-translated, IPv4-compatible
        } else if (high == NAT64 && low >>> 32 == 0) {
            found.add(ipv4(word(bytes, 12)));
        } else if (high >>> 48 == 0x2002) {
            found.add(ipv4(word(bytes, 2))); // 6to4
        } else if (high >>> 32 == 0x2001_0000L) {
            found.add(ipv4(word(bytes, 4))); // Teredo: its server, and its client, whose bits are inverted
            found.add(ipv4(~word(bytes, 12)));
        }
        if ((low >>> 32 & 0xfdff_ffffL) == 0x0000_5efeL) {
            found.add(ipv4(word(bytes, 12))); // ISATAP
        }
        return found;
    }

    private static String ipv6(long high) {
        try {
            return NetUtil.toAddressString(InetAddress.getByAddress(
                    ByteBuffer.allocate(16).putLong(high).array()));
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e); // only of another length
        }
    }

    private static InetAddress ipv4(int word) {
        try {
            return InetAddress.getByAddress(
                    new byte[] {(byte) (word >> 24), (byte) (word >> 16), (byte) (word >> 8), (byte) word});
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e); // only of another length
        }
    }

    private static int word(byte[] bytes, int at) {
        return bytes[at] << 24 | (bytes[at + 1] & 0xff) << 16 | (bytes[at + 2] & 0xff) << 8 | (bytes[at + 3] & 0xff);
    }

    private static long half(byte[] bytes, int at) {
        return (long) word(bytes, at) << 32 | (word(bytes, at + 4) & 0xffff_ffffL);
    }
}
