package dev.gateway.message.path;

import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Path ambiguities: the ways in which servers read a path besides the one in which it is forwarded. {@link PathNormalizer}
 * leaves these differences as they are, as there are servers that need them:
 *
 * <ul>
 *   <li>Many servers decode escapes. {@link Separators} says what becomes of encoded slashes and backslashes.
 *   <li>Servers for servlets drop the parameters of a segment, which begin with a semicolon, before or after that.
 *   <li>Rewriting may decode a path and read the result as a URL again: the path then ends at its {@code ?} or {@code #}.
 *   <li>Some servers ignore control characters and spaces: {@code $} of a regular expression stands before a line break, too.
 *   <li>Many frameworks serve a path with a slash at its end like the one without. Routers look that up, see {@link
 *       Reading#withoutSlash}.
 *   <li>Windows ignores dots and spaces at the end of a file name, and the name of its main stream ({@code ::$DATA}).
 * </ul>
 */
public final class PathReadings {
    /** What a server that decodes a path makes of encoded slashes and backslashes. */
    public enum Separators {
        /** Both separate segments, as on Windows. */
        BOTH,
        /** A slash separates segments; a backslash is part of a name. */
        SLASH,
        /** They stay escaped, as parts of names. */
        NONE;

        private static final List<Separators> ALL = List.of(values());
    }

    /**
     * A reading of a path.
     *
     * @param path what a server reads
     * @param ofRules how it reads the paths of rules, null if as they are written
     */
    public record Reading(AsciiString path, @Nullable Separators ofRules) {
        /** Returns the same without a slash at its end, null if it has none, or nothing else. */
        public @Nullable Reading withoutSlash() {
            int last = path.length() - 1;
            return last < 1 || path.byteAt(last) != '/' ? null : new Reading(path.subSequence(0, last), ofRules);
        }
    }

    /** What becomes of the parameters of a segment. */
    private enum Parameters {
        KEPT,
        DROPPED_BEFORE_DECODING,
        DROPPED_AFTER_DECODING
    }

    /** More than there are of paths that people make: four readings of 8 KB, or ten of 3 KB. */
    private static final int MAX_LENGTHS = 32 * 1024;

    private PathReadings() {}

    /** Whether there is any other way to read the first bytes of a path, which are in normal form. */
    public static boolean isAmbiguous(AsciiString path, int length) {
        byte[] bytes = path.array();
        int start = path.arrayOffset();
        byte previous = 0;
        for (int i = start; i < start + length; i++) {
            byte b = bytes[i];
            if (b == '%' || b == ';' || (b == '/' && previous == '.') || (b == '$' && previous == ':')) {
                return true;
            }
            previous = b;
        }
        return previous == '.';
    }

    /** Whether the first bytes of a path have any escape. */
    public static boolean hasEscapes(AsciiString path, int length) {
        int first = path.indexOf('%', 0);
        return first >= 0 && first < length;
    }

    /**
     * Returns all readings of the first bytes of a path, and how they are to be looked up.
     *
     * @param hasEscapedRules whether any rule has an escape in its path
     */
    public static List<Reading> all(AsciiString path, int length, boolean hasEscapedRules) {
        List<Reading> all = new ArrayList<>();
        if (!hasEscapes(path, length)) {
            for (AsciiString reading : of(path, length, Separators.BOTH)) {
                all.add(new Reading(reading, null));
                addPlain(all, reading, hasEscapedRules);
            }
            return all;
        }
        boolean hasBackslash = hasEscaped('\\', path, length);
        boolean hasSeparator = hasBackslash || hasEscaped('/', path, length);
        for (Separators each : Separators.ALL) {
            boolean differs = each == Separators.SLASH ? hasBackslash : hasSeparator;
            if (each == Separators.BOTH || differs || hasEscapedRules) {
                of(path, length, each).forEach(reading -> all.add(new Reading(reading, each)));
            }
        }
        int semicolon = path.indexOf(';', 0);
        if (semicolon >= 0 && semicolon < length) {
            byte[] out = copy(path, length);
            all.add(new Reading(new AsciiString(out, 0, resolve(out, dropParameters(out, length)), false), null));
        }
        return all;
    }

    /** Whether readings have so many bytes in all that it takes long to compare them with expressions. */
    public static boolean areTooMany(List<Reading> readings) {
        long lengths = 0;
        for (Reading reading : readings) {
            lengths += reading.path().length();
        }
        return lengths > MAX_LENGTHS;
    }

    /** Returns how to look up a path that all servers read in one way. Rules with escapes may be for it, too. */
    public static List<Reading> plain(AsciiString path) {
        List<Reading> all = new ArrayList<>();
        addPlain(all, path, true);
        return all;
    }

    private static void addPlain(List<Reading> all, AsciiString path, boolean hasEscapedRules) {
        for (Separators each : hasEscapedRules ? Separators.ALL : List.<Separators>of()) {
            all.add(new Reading(path, each));
        }
    }

    /** Returns what some servers may make of the first bytes of a path; each reading once. */
    public static List<AsciiString> of(AsciiString path, int length, Separators separators) {
        List<AsciiString> readings = new ArrayList<>(Parameters.values().length);
        boolean endsEarly = hasEscaped('?', path, length) || hasEscaped('#', path, length);
        for (Parameters parameters : Parameters.values()) {
            addForms(readings, read(path, length, parameters, separators, false));
            if (endsEarly) {
                addForms(readings, read(path, length, parameters, separators, true));
            }
        }
        return readings;
    }

    private static boolean hasEscaped(char wanted, AsciiString path, int length) {
        for (int i = 0; i + 2 < length; i++) {
            if (path.byteAt(i) == '%' && octet(path.byteAt(i + 1), path.byteAt(i + 2)) == wanted) {
                return true;
            }
        }
        return false;
    }

    /** Adds a decoded path, and what is left of it where servers ignore some characters. */
    @SuppressWarnings("ReferenceEquality") // the same instance if nothing is left out
    private static void addForms(List<AsciiString> readings, AsciiString decoded) {
        add(readings, decoded);
        add(readings, asFileNames(decoded));
        AsciiString plain = withoutBlanks(decoded);
        if (plain != decoded) {
            add(readings, plain);
            add(readings, asFileNames(plain));
        }
    }

    private static void add(List<AsciiString> readings, AsciiString reading) {
        if (!readings.contains(reading)) {
            readings.add(reading);
        }
    }

    /**
     * Returns a decoded path without control characters, and without spaces at the ends of segments; the same instance if it
     * has none.
     */
    private static AsciiString withoutBlanks(AsciiString path) {
        byte[] out = new byte[path.length() + 1];
        int to = 0;
        for (int i = 0; i <= path.length(); i++) {
            byte b = i == path.length() ? (byte) '/' : path.byteAt(i);
            if (b == '/') {
                while (to > 0 && out[to - 1] == ' ') {
                    to--;
                }
            }
            boolean control = (b >= 0 && b < ' ') || b == 0x7f;
            boolean first = to > 0 && out[to - 1] == '/';
            if (i < path.length() && !control && !(first && b == ' ')) {
                out[to++] = b;
            }
        }
        return to == path.length() ? path : new AsciiString(out, 0, resolve(out, to), false);
    }

    /** Returns a decoded path as Windows finds the files of its segments; the same instance if they are so already. */
    private static AsciiString asFileNames(AsciiString path) {
        byte[] out = new byte[path.length() + 1];
        int to = 0;
        int segment = 0; // where in out the current segment starts
        for (int i = 0; i < path.length(); i++) {
            byte b = path.byteAt(i);
            if (b == '/') {
                to = endFileName(out, segment, to);
                segment = to + 1;
            }
            out[to++] = b;
        }
        to = endFileName(out, segment, to);
        return to == path.length() ? path : new AsciiString(out, 0, resolve(out, to), false);
    }

    /** Returns where a file name ends: at the colon before the name of a stream, and before dots and spaces. */
    private static int endFileName(byte[] name, int start, int end) {
        int to = end;
        boolean hasStream = false;
        for (int i = end - 1; i >= start; i--) {
            hasStream |= name[i] == '$' && i > start && name[i - 1] == ':';
            if (hasStream && name[i] == ':') {
                to = i;
            }
        }
        while (to > start && (name[to - 1] == '.' || name[to - 1] == ' ')) {
            to--;
        }
        return to;
    }

    /** Returns a path as it is read by a server that decodes it and knows no parameters. */
    public static AsciiString decode(AsciiString path, Separators separators) {
        return read(path, path.length(), Parameters.KEPT, separators, false);
    }

    /** Returns the first bytes of a path as read by a server that resolves dot segments and decodes nothing. */
    static AsciiString resolve(AsciiString path, int length) {
        byte[] out = copy(path, length);
        return new AsciiString(out, 0, resolve(out, length), false);
    }

    private static byte[] copy(AsciiString path, int length) {
        byte[] out = new byte[length + 1]; // room for a slash at the end
        System.arraycopy(path.array(), path.arrayOffset(), out, 0, length);
        return out;
    }

    private static AsciiString read(
            AsciiString path, int length, Parameters parameters, Separators separators, boolean endsEarly) {
        byte[] out = copy(path, length);
        int end = length;
        if (parameters == Parameters.DROPPED_BEFORE_DECODING) {
            end = dropParameters(out, end);
        }
        end = decode(out, end, separators);
        if (endsEarly) {
            end = endOfPath(out, end);
        }
        if (parameters == Parameters.DROPPED_AFTER_DECODING) {
            end = dropParameters(out, end);
        }
        return new AsciiString(out, 0, resolve(out, end), false);
    }

    private static int endOfPath(byte[] bytes, int end) {
        int i = 0;
        while (i < end && bytes[i] != '?' && bytes[i] != '#') {
            i++;
        }
        return i;
    }

    private static int dropParameters(byte[] bytes, int end) {
        int to = 0;
        boolean dropping = false;
        for (int i = 0; i < end; i++) {
            dropping = bytes[i] != '/' && (dropping || bytes[i] == ';');
            if (!dropping) {
                bytes[to++] = bytes[i];
            }
        }
        return to;
    }

    private static int decode(byte[] bytes, int end, Separators separators) {
        int to = 0;
        for (int i = 0; i < end; i++) {
            byte b = bytes[i];
            if (b == '%' && i + 2 < end) {
                b = octet(bytes[i + 1], bytes[i + 2]);
                i += 2;
                if (separators == Separators.NONE && (b == '/' || b == '\\')) {
                    bytes[to++] = '%';
                    bytes[to++] = (byte) (b == '/' ? '2' : '5');
                    b = (byte) (b == '/' ? 'F' : 'C');
                }
            }
            bytes[to++] = b == '\\' && separators == Separators.BOTH ? (byte) '/' : b;
        }
        return to;
    }

    private static byte octet(byte high, byte low) {
        return (byte) (Character.digit(high, 16) << 4 | Character.digit(low, 16));
    }

    /** Removes empty segments and those that are dots, which there may be now; what would leave the root stays there. */
    private static int resolve(byte[] bytes, int end) {
        int to = 0;
        int i = 0;
        while (i < end) {
            int next = i; // the end of the segment
            while (next < end && bytes[next] != '/') {
                next++;
            }
            int length = next - i;
            boolean dot = length == 1 && bytes[i] == '.';
            boolean dots = length == 2 && bytes[i] == '.' && bytes[i + 1] == '.';
            if (dots) {
                while (to > 0 && bytes[--to] != '/') {
                    // to the slash before the last segment
                }
            } else if (length > 0 && !dot) {
                // There was a slash before each segment, so this never overtakes what is still to be read.
                System.arraycopy(bytes, i, bytes, to + 1, length);
                bytes[to] = '/';
                to += 1 + length;
            }
            boolean last = next >= end;
            if (last && (length == 0 || dot || dots)) {
                bytes[to++] = '/';
            }
            i = next + 1;
            if (i == end) {
                bytes[to++] = '/'; // a slash at the end
            }
        }
        return to;
    }
}
