package dev.gateway.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.NetUtil;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** PROXY protocol writer: makes the headers of the PROXY protocol, by which an upstream learns whose connection it gets. */
public final class ProxyHeader {
    private static final byte[] SIGNATURE = {13, 10, 13, 10, 0, 13, 10, 'Q', 'U', 'I', 'T', 10};
    private static final int VERSION_2_LOCAL = 0x20;
    private static final int VERSION_2_PROXY = 0x21;
    private static final int TCP_OVER_IPV4 = 0x11;
    private static final int TCP_OVER_IPV6 = 0x21;

    private ProxyHeader() {}

    /**
     * Returns the header of version 1, a line.
     *
     * @param client who connected to us, null for a Unix-domain socket, of which nothing can be told
     * @param local the address it connected to, null for a Unix-domain socket
     */
    public static ByteBuf version1(@Nullable InetSocketAddress client, @Nullable InetSocketAddress local) {
        String line = "PROXY UNKNOWN\r\n";
        if (client != null && local != null) {
            boolean ipv4 = isIpv4(client, local);
            line = String.join(
                    " ",
                    "PROXY",
                    ipv4 ? "TCP4" : "TCP6",
                    text(client.getAddress(), ipv4),
                    text(local.getAddress(), ipv4),
                    Integer.toString(client.getPort()),
                    local.getPort() + "\r\n");
        }
        return Unpooled.wrappedBuffer(line.getBytes(StandardCharsets.US_ASCII));
    }

    /**
     * Returns the header of version 2, which is binary.
     *
     * @param client who connected to us, null for a Unix-domain socket, of which nothing is told
     * @param local the address it connected to, null for a Unix-domain socket
     */
    public static ByteBuf version2(@Nullable InetSocketAddress client, @Nullable InetSocketAddress local) {
        ByteBuf header = Unpooled.buffer(SIGNATURE.length + 4 + 36).writeBytes(SIGNATURE);
        if (client == null || local == null) {
            return header.writeByte(VERSION_2_LOCAL).writeByte(0).writeShort(0);
        }
        boolean ipv4 = isIpv4(client, local);
        header.writeByte(VERSION_2_PROXY).writeByte(ipv4 ? TCP_OVER_IPV4 : TCP_OVER_IPV6);
        return header.writeShort(ipv4 ? 12 : 36)
                .writeBytes(bytes(client.getAddress(), ipv4))
                .writeBytes(bytes(local.getAddress(), ipv4))
                .writeShort(client.getPort())
                .writeShort(local.getPort());
    }

    private static boolean isIpv4(InetSocketAddress client, InetSocketAddress local) {
        return client.getAddress() instanceof Inet4Address && local.getAddress() instanceof Inet4Address;
    }

    private static String text(InetAddress address, boolean ipv4) {
        boolean mapped = !ipv4 && address instanceof Inet4Address;
        return (mapped ? "::ffff:" : "") + NetUtil.toAddressString(address);
    }

    /** An IPv4 address next to an IPv6 one is written as IPv4-mapped: both are of one family. */
    private static byte[] bytes(InetAddress address, boolean ipv4) {
        byte[] bytes = address.getAddress();
        if (ipv4 || bytes.length > 4) {
            return bytes;
        }
        byte[] mapped = new byte[16];
        mapped[10] = mapped[11] = (byte) 0xFF;
        System.arraycopy(bytes, 0, mapped, 12, 4);
        return mapped;
    }
}
