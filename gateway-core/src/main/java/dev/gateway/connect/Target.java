package dev.gateway.connect;

import dev.gateway.format.IpLiteral;
import dev.gateway.message.Ascii;
import dev.gateway.message.AsciiBuilder;
import dev.gateway.message.Authority;
import dev.gateway.message.RequestHead;
import io.netty.util.AsciiString;
import io.netty.util.NetUtil;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * CONNECT target: where a request wants to go, in the one form in which it is judged and then dialed. Immutable.
 *
 * @param host a name in lower case without a dot at its end, or an address as it is usually written, without brackets
 * @param address what the host is if it is an address, else null
 * @param port 1 to 65535
 * @param odd whether the host is something that some software takes for an address and other software for a name, such
 *     as {@code 127.1}; it must not be dialed
 */
public record Target(String host, @Nullable InetAddress address, int port, boolean odd) {
    private static final int HTTP_PORT = 80;
    private static final int MAX_NAME = 253;
    private static final int MAX_LABEL = 63;

    /** Returns the target of a CONNECT, or of a request for an {@code http} URI; null if it names none that is valid. */
    public static @Nullable Target of(RequestHead head) {
        return parse(head.authority(), head.isConnect() ? 0 : HTTP_PORT);
    }

    /**
     * Takes a host and port apart.
     *
     * @param otherwise the port if none is named, 0 if one must be
     * @return null if this is not a host and a port
     */
    public static @Nullable Target parse(AsciiString authority, int otherwise) {
        if (!Authority.isValid(authority)) {
            return null;
        }
        int port = Authority.port(authority, otherwise);
        if (port == 0) {
            return null;
        }
        int length = Authority.hostLength(authority);
        if (authority.byteAt(0) == '[') {
            InetAddress address = IpLiteral.parse6(authority.toString(1, length - 1));
            return address == null ? null : new Target(NetUtil.toAddressString(address), address, port, false);
        }
        String host = name(authority, length);
        if (endsInNumber(host)) {
            InetAddress address = IpLiteral.parse4(host);
            return new Target(host, address, port, address == null);
        }
        boolean rooted = host.endsWith(".");
        String name = rooted ? host.substring(0, host.length() - 1) : host;
        return isName(name) ? new Target(name, null, port, false) : null;
    }

    private static String name(AsciiString authority, int length) {
        byte[] bytes = authority.array();
        int start = authority.arrayOffset();
        for (int i = start; i < start + length; i++) {
            if (bytes[i] != Ascii.lower(bytes[i])) {
                return authority.subSequence(0, length, false).toLowerCase().toString();
            }
        }
        return new String(bytes, start, length, StandardCharsets.ISO_8859_1);
    }

    /**
     * Whether the last label is a number, decimal or hexadecimal. No top-level domain is, and what C libraries make of
     * such a host is an address: {@code 2130706433}, {@code 0177.0.0.1}, {@code 0x7f.1}.
     */
    private static boolean endsInNumber(String host) {
        int end = host.endsWith(".") ? host.length() - 1 : host.length();
        int start = host.lastIndexOf('.', end - 1) + 1;
        boolean hex = host.startsWith("0x", start);
        for (int i = hex ? start + 2 : start; i < end; i++) {
            char c = host.charAt(i);
            if ((c < '0' || c > '9') && !(hex && c >= 'a' && c <= 'f')) {
                return false;
            }
        }
        return end > start;
    }

    /** Whether a configured text is a name as {@link #host} has it. */
    static boolean isPlainName(String text) {
        return !text.isEmpty()
                && Authority.isValid(new AsciiString(text))
                && text.indexOf(':') < 0
                && !endsInNumber(text)
                && isName(text);
    }

    /** Whether DNS could know it: labels that are neither empty nor too long. */
    private static boolean isName(String name) {
        int label = 0;
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c == '.') {
                if (label == 0) {
                    return false;
                }
                label = 0;
            } else if (++label > MAX_LABEL || c == '~') {
                return false;
            }
        }
        return label > 0 && name.length() <= MAX_NAME;
    }

    /** Whether an authority already says exactly this, port aside. */
    boolean isWritten(AsciiString authority) {
        int length = Authority.hostLength(authority);
        boolean brackets = authority.byteAt(0) == '[';
        int from = brackets ? 1 : 0;
        int to = brackets ? length - 1 : length;
        if (to - from != host.length() || brackets != isIpv6()) {
            return false;
        }
        for (int i = from; i < to; i++) {
            if (authority.byteAt(i) != host.charAt(i - from)) {
                return false;
            }
        }
        return true;
    }

    /** Returns the host as it stands in an authority, with the port if the given one has any. */
    AsciiString rewrite(AsciiString authority) {
        AsciiBuilder builder = new AsciiBuilder(host.length() + 8);
        if (isIpv6()) {
            builder.add('[');
        }
        for (int i = 0; i < host.length(); i++) {
            builder.add(host.charAt(i));
        }
        if (isIpv6()) {
            builder.add(']');
        }
        return Authority.port(authority, -1) < 0
                ? builder.build()
                : builder.add(':').addDecimal(port).build();
    }

    private boolean isIpv6() {
        return address != null && !(address instanceof Inet4Address);
    }

    /** Returns {@code host:port}. */
    @Override
    public String toString() {
        return (isIpv6() ? "[" + host + "]" : host) + ":" + port;
    }
}
