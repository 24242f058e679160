package dev.gateway.stream;

import io.netty.util.NetUtil;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Rate limit key of a client. Whom connections, tunnels and wrong passwords are counted for: an IPv4 address, an IPv6
 * network of 64 bits, since a host has all of its addresses, or this machine, which has all of 127.0.0.0/8. Clients whose
 * address a proxy does not tell are counted as one.
 *
 * @param high the address, or the first half of it
 */
public record ClientNetwork(Kind kind, long high) {
    /** Nobody asks. */
    public static final ClientNetwork NONE = new ClientNetwork(Kind.NONE, 0);

    /** All clients whose address a trusted proxy does not tell. */
    static final ClientNetwork UNKNOWN = new ClientNetwork(Kind.UNKNOWN, 0);

    private static final ClientNetwork LOCAL = new ClientNetwork(Kind.LOCAL, 0);

    /** What a network is. */
    public enum Kind {
        NONE,
        LOCAL,
        UNKNOWN,
        IPV4,
        IPV6
    }

    /** Returns whom an address counts for; null is the other end of a Unix-domain socket. */
    public static ClientNetwork of(@Nullable InetAddress ip) {
        if (ip == null || ip.isLoopbackAddress()) {
            return LOCAL;
        }
        byte[] bytes = ip.getAddress();
        long high = 0;
        for (int i = 0; i < Math.min(bytes.length, Long.BYTES); i++) {
            high = high << 8 | (bytes[i] & 0xff);
        }
        return new ClientNetwork(ip instanceof Inet6Address ? Kind.IPV6 : Kind.IPV4, high);
    }

    /** Returns the network as people write it. */
    @Override
    public String toString() {
        return switch (kind) {
            case NONE -> "";
            case LOCAL -> "this machine";
            case UNKNOWN -> "clients without an address";
            case IPV4 -> NetUtil.intToIpAddress((int) high);
            case IPV6 ->
                NetUtil.bytesToIpAddress(ByteBuffer.allocate(16).putLong(high).array()) + "/64";
        };
    }
}
