package dev.gateway.stream;

import dev.gateway.format.IpLiteral;
import io.netty.util.AsciiString;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Client address: where a connection or a request comes from. Immutable.
 *
 * @param ip null for a Unix-domain socket, and for an unknown client
 * @param port 0 if it is not known
 * @param text the address without port, as RFC 5952 writes it and without a zone; {@code unix} for a socket file, or
 *     {@code unknown}
 */
public record SourceAddress(@Nullable InetAddress ip, int port, AsciiString text) {
    /** A Unix-domain socket, whose other end has no address. */
    public static final SourceAddress UNIX = new SourceAddress(null, 0, new AsciiString("unix"));

    /** A client behind a trusted proxy that names no address for it. */
    public static final SourceAddress UNKNOWN = new SourceAddress(null, 0, new AsciiString("unknown"));

    private static final int MAX_TEXT = 64;

    /** Makes an address of an IP address and a port, 0 for one that is not known. */
    public SourceAddress(InetAddress ip, int port) {
        this(ip, port, new AsciiString(NetUtil.toAddressString(ip)));
    }

    /** Returns the address of a socket's other end; {@link #UNIX} for any that is not of IP, and for null. */
    public static SourceAddress of(@Nullable SocketAddress address) {
        return address instanceof InetSocketAddress inet && inet.getAddress() != null
                ? new SourceAddress(inet.getAddress(), inet.getPort())
                : UNIX;
    }

    /**
     * Reads an address as forwarding fields write it, with or without a port.
     *
     * @return null if it is not one, such as {@code unknown}
     */
    public static @Nullable SourceAddress parse(String text) {
        int close = text.startsWith("[") ? text.indexOf(']') : -1;
        int colon = close >= 0 ? text.indexOf(':', close) : text.indexOf(':');
        boolean port = colon >= 0 && colon == text.lastIndexOf(':');
        String host = close >= 0 ? text.substring(1, close) : port ? text.substring(0, colon) : text;
        InetAddress address = host.length() > MAX_TEXT ? null : IpLiteral.parse(host);
        return address == null ? null : new SourceAddress(address, port ? port(text.substring(colon + 1)) : 0);
    }

    /** A port may be hidden (RFC 7239, section 6.4), and is then not known. */
    private static int port(String text) {
        boolean number = !text.isEmpty() && text.length() <= 5 && text.chars().allMatch(c -> c >= '0' && c <= '9');
        int port = number ? Integer.parseInt(text) : 0;
        return port <= 65535 ? port : 0;
    }

    /** Returns the IP address and the port, null if there is none. */
    public @Nullable InetSocketAddress socketAddress() {
        return ip == null ? null : new InetSocketAddress(ip, port);
    }

    /** Returns whom this counts for where there are limits for each client. */
    public ClientNetwork network() {
        return equals(UNKNOWN) ? ClientNetwork.UNKNOWN : ClientNetwork.of(ip);
    }

    /** Returns the address with its port, if that is known, for people. */
    @Override
    public String toString() {
        return ip == null || port == 0
                ? text.toString()
                : NetUtil.toSocketAddressString(new InetSocketAddress(ip, port));
    }
}
