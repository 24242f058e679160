package dev.gateway.message.path;

import io.netty.util.AsciiString;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Path normalization: brings a request's path into the one form that is both matched and forwarded, so that gateway and
 * upstream cannot read it differently. The policy:
 *
 * <ul>
 *   <li>escapes of unreserved characters are decoded ({@code %61} is {@code a}, {@code %2e} a dot), all others are kept
 *       with upper-case digits (RFC 3986, section 6.2.2);
 *   <li>{@code //} becomes {@code /}, as nginx does by default: a rule for {@code /admin} also sees {@code //admin};
 *   <li>dot segments are resolved; one that would leave the root is refused, as nginx does;
 *   <li>{@code %2F} and {@code %5C} are data: they stay as they are and never separate segments. Next to dots, where an
 *       upstream that decodes them would climb ({@code ..%2F}), they are refused, and so are dots with parameters
 *       ({@code ..;}), which servlet containers take for dots;
 *   <li>refused are also {@code %00}, an invalid escape, a raw backslash, {@code #}, white space and control
 *       bytes, and a path that does not start with a slash;
 *   <li>the query is left as it is, but must not hold {@code #}, white space or control bytes.
 * </ul>
 *
 * Bytes above 127 are refused, too. Others that a URI may not hold, such as {@code |}, pass: clients send them, and all
 * agree on them.
 */
public final class PathNormalizer {
    private PathNormalizer() {}

    /**
     * Returns the normal form of path and query: the same instance if it is normal already, null if it must be refused
     * (400). {@code *} and the empty path of a CONNECT are normal.
     */
    public static @Nullable AsciiString normalize(AsciiString path) {
        return normalize(path, true, true);
    }

    /** Returns the normal form with all slashes of the path; null if the path must be refused. */
    static @Nullable AsciiString keepSlashes(AsciiString path) {
        return normalize(path, false, true);
    }

    /**
     * Returns a path that has a normal form as a server reads it that resolves no dot segments.
     *
     * @param merge whether it merges repeated slashes
     */
    static @Nullable AsciiString keepDots(AsciiString path, boolean merge) {
        return normalize(path, merge, false);
    }

    private static @Nullable AsciiString normalize(AsciiString path, boolean merge, boolean resolve) {
        byte[] bytes = path.array();
        int start = path.arrayOffset();
        int length = path.length();
        if (length == 0 || (length == 1 && bytes[start] == '*')) {
            return path;
        }
        if (bytes[start] != '/') {
            return null;
        }
        int limit = start + length;
        boolean normal = true;
        byte previous = 0;
        int i = start;
        for (; i < limit && bytes[i] != '?'; i++) {
            byte b = bytes[i];
            if (isRefused(b) || b == '\\') {
                return null;
            }
            normal &= b != '%' && (previous != '/' || (b != '/' && b != '.'));
            previous = b;
        }
        for (int q = i; q < limit; q++) {
            if (isRefused(bytes[q])) {
                return null;
            }
        }
        return normal ? path : rewrite(path, i - start, merge, resolve);
    }

    private static boolean isRefused(byte b) {
        return b <= ' ' || b == 0x7f || b == '#'; // bytes above 127 are negative
    }

    private static @Nullable AsciiString rewrite(AsciiString path, int pathLength, boolean merge, boolean resolve) {
        byte[] in = path.array();
        int start = path.arrayOffset();
        byte[] out = new byte[path.length()];
        out[0] = '/';
        int to = 1;
        int segment = 1; // where in out the current segment starts
        for (int i = start + 1, limit = start + pathLength; i < limit; i++) {
            byte b = in[i];
            if (b == '%') {
                int octet = i + 2 < limit ? octet(in[i + 1], in[i + 2]) : -1;
                if (octet <= 0) {
                    return null;
                }
                if (isUnreserved(octet)) {
                    out[to++] = (byte) octet;
                } else {
                    out[to++] = '%';
                    out[to++] = upper(in[i + 1]);
                    out[to++] = upper(in[i + 2]);
                }
                i += 2;
            } else if (b == '/') {
                if (to == segment && !merge) {
                    out[to++] = '/'; // an empty segment
                    segment = to;
                    continue;
                }
                segment = to = endSegment(out, segment, to, true, resolve);
                if (to < 0) {
                    return null;
                }
            } else {
                out[to++] = b;
            }
        }
        to = endSegment(out, segment, to, false, resolve);
        if (to < 0) {
            return null;
        }
        int queryLength = path.length() - pathLength;
        System.arraycopy(in, start + pathLength, out, to, queryLength);
        to += queryLength;
        if (to == path.length() && Arrays.equals(out, 0, to, in, start, start + to)) {
            return path;
        }
        return new AsciiString(out, 0, to, false);
    }

    /** Returns where the next segment starts (after a slash) or the path ends, or -1 if the path must be refused. */
    private static int endSegment(byte[] out, int segment, int to, boolean slash, boolean resolve) {
        int length = to - segment;
        if (length == 0) {
            return to; // no second slash
        }
        boolean isDot = out[segment] == '.' && length == 1;
        boolean isDots = out[segment] == '.' && length == 2 && out[segment + 1] == '.';
        if (resolve && isDot) {
            return segment;
        }
        if (resolve && isDots) {
            if (segment == 1) {
                return -1;
            }
            int parent = segment - 1;
            while (out[parent - 1] != '/') {
                parent--;
            }
            return parent;
        }
        if (!isDot && !isDots && climbsWhenDecoded(out, segment, to)) {
            return -1;
        }
        if (slash) {
            out[to++] = '/';
        }
        return to;
    }

    /** Whether dots stand alone between encoded slashes, or before parameters. */
    private static boolean climbsWhenDecoded(byte[] out, int segment, int to) {
        int part = segment;
        while (part < to) {
            int end = part;
            while (end < to && !isEncodedSlash(out, end)) {
                end++;
            }
            int name = part;
            while (name < end && out[name] != ';') {
                name++;
            }
            int length = name - part;
            if ((length == 1 || length == 2) && out[part] == '.' && out[name - 1] == '.') {
                return true;
            }
            part = end + 3;
        }
        return false;
    }

    private static boolean isEncodedSlash(byte[] out, int i) {
        return out[i] == '%' && ((out[i + 1] == '2' && out[i + 2] == 'F') || (out[i + 1] == '5' && out[i + 2] == 'C'));
    }

    private static int octet(byte high, byte low) {
        int h = Character.digit(high, 16);
        int l = Character.digit(low, 16);
        return h < 0 || l < 0 ? -1 : h << 4 | l;
    }

    private static byte upper(byte digit) {
        return digit >= 'a' ? (byte) (digit - 32) : digit;
    }

    private static boolean isUnreserved(int c) {
        return (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || (c >= '0' && c <= '9')
                || c == '-'
                || c == '.'
                || c == '_'
                || c == '~';
    }
}
