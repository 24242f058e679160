package dev.gateway.message;

import io.netty.util.AsciiString;
import io.netty.util.NetUtil;
import org.jspecify.annotations.Nullable;

/**
 * Authority (Host and :authority). Host and optional port of a request (RFC 9110, section 7.2): checked and taken apart
 * without a URI object. A host is a name of letters, digits, {@code - . _ ~}, or an IPv4 address, or an IPv6 address in
 * brackets. That is stricter than RFC 3986, which also lets sub-delimiters and escapes stand in a name: DNS and
 * certificates know none of them, and two recipients might read them differently. For the same reason no label of a name
 * is empty, other than that of the root at its end. User information is refused.
 *
 * @param host as written, IPv6 in its brackets
 * @param port 1 to 65535, or -1 if none is named
 */
public record Authority(AsciiString host, int port) {
    private static final int MAX_HOST = 255;

    /** Takes an authority apart; null if it is not valid. */
    public static @Nullable Authority parse(AsciiString authority) {
        if (!isValid(authority)) {
            return null;
        }
        int hostLength = hostLength(authority);
        return new Authority(authority.subSequence(0, hostLength, false), port(authority, -1));
    }

    /** Whether these bytes are a host and maybe a port. */
    public static boolean isValid(AsciiString authority) {
        return isValid(authority.array(), authority.arrayOffset(), authority.length());
    }

    /** Whether these bytes are a host and maybe a port; an empty host is not valid. */
    public static boolean isValid(byte[] bytes, int start, int length) {
        int limit = start + length;
        int hostEnd;
        if (length > 0 && bytes[start] == '[') {
            hostEnd = start + 1;
            while (hostEnd < limit && bytes[hostEnd] != ']') {
                hostEnd++;
            }
            if (hostEnd == limit || !isIpv6(bytes, start + 1, hostEnd)) {
                return false;
            }
            hostEnd++;
        } else {
            hostEnd = start;
            boolean labelEmpty = true;
            while (hostEnd < limit && isNameByte(bytes[hostEnd])) {
                boolean dot = bytes[hostEnd] == '.';
                if (dot && labelEmpty) {
                    return false;
                }
                labelEmpty = dot;
                hostEnd++;
            }
            if (hostEnd == start || hostEnd - start > MAX_HOST) {
                return false;
            }
        }
        return hostEnd == limit || isPort(bytes, hostEnd, limit);
    }

    private static boolean isIpv6(byte[] bytes, int from, int to) {
        for (int i = from; i < to; i++) {
            byte b = Ascii.lower(bytes[i]);
            if (b != ':' && b != '.' && (b < '0' || b > '9') && (b < 'a' || b > 'f')) {
                return false; // no zone: it means something on one machine only
            }
        }
        return NetUtil.isValidIpV6Address(new AsciiString(bytes, from, to - from, false));
    }

    private static boolean isNameByte(byte b) {
        byte lower = Ascii.lower(b);
        return (lower >= 'a' && lower <= 'z') || (b >= '0' && b <= '9') || b == '.' || b == '-' || b == '_' || b == '~';
    }

    private static boolean isPort(byte[] bytes, int colon, int limit) {
        if (bytes[colon] != ':' || limit - colon > 6) {
            return false;
        }
        if (colon + 1 == limit) {
            return true; // "host:" is the host and its scheme's port (RFC 3986, section 6.2.3)
        }
        int port = 0;
        for (int i = colon + 1; i < limit; i++) {
            if (bytes[i] < '0' || bytes[i] > '9') {
                return false;
            }
            port = port * 10 + bytes[i] - '0';
        }
        return port >= 1 && port <= 65535;
    }

    /** Returns how many bytes of a valid authority are its host, brackets included. */
    public static int hostLength(AsciiString authority) {
        byte[] bytes = authority.array();
        int start = authority.arrayOffset();
        // A port is at most five digits, so the colon is near the end if there is one.
        for (int i = authority.length() - 1, stop = Math.max(0, i - 5); i >= stop; i--) {
            byte b = bytes[start + i];
            if (b == ':') {
                return i;
            }
            if (b < '0' || b > '9') {
                break;
            }
        }
        return authority.length();
    }

    /** Returns the port of a valid authority, or the given one if it names none. */
    public static int port(AsciiString authority, int otherwise) {
        int from = hostLength(authority) + 1;
        return from >= authority.length() ? otherwise : authority.parseInt(from, authority.length());
    }

    /** Whether two valid authorities name the same host, whatever the case and one trailing dot. Ports do not count. */
    public static boolean sameHost(AsciiString a, AsciiString b) {
        int aLength = nameLength(a);
        return aLength == nameLength(b) && a.regionMatches(true, 0, b, 0, aLength);
    }

    private static int nameLength(AsciiString authority) {
        int length = hostLength(authority);
        return length > 1 && authority.byteAt(length - 1) == '.' ? length - 1 : length;
    }
}
