package dev.gateway.listener;

import io.netty.util.NetUtil;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Arrays;

/**
 * Whom connections are counted for: an IPv4 address, an IPv6 network of 64 bits, since a host has all of its addresses,
 * or this machine, which has all of 127.0.0.0/8.
 *
 * @param text for people
 * @param high the address, or the first half of it
 */
record ClientNetwork(String text, long high) {
    /** Nobody asks. */
    static final ClientNetwork NONE = new ClientNetwork("", 0);

    private static final ClientNetwork LOCAL = new ClientNetwork("this machine", 0);

    static ClientNetwork of(SocketAddress address) {
        InetAddress ip = address instanceof InetSocketAddress inet ? inet.getAddress() : null;
        if (ip == null || ip.isLoopbackAddress()) {
            return LOCAL; // also over a socket file
        }
        byte[] bytes = ip.getAddress();
        long high = 0;
        for (int i = 0; i < Math.min(bytes.length, Long.BYTES); i++) {
            high = (high << 8) | (bytes[i] & 0xff);
        }
        return new ClientNetwork(ip instanceof Inet6Address ? network(bytes) : ip.getHostAddress(), high);
    }

    private static String network(byte[] ipv6) {
        Arrays.fill(ipv6, Long.BYTES, ipv6.length, (byte) 0);
        return NetUtil.bytesToIpAddress(ipv6) + "/64";
    }

    @Override
    public String toString() {
        return text;
    }
}
