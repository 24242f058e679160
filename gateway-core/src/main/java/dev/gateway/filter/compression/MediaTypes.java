package dev.gateway.filter.compression;

import io.netty.util.AsciiString;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A set of media types (RFC 9110, section 8.3.1) with wildcards: {@code text/*}, {@code application/*+json}. Immutable. */
final class MediaTypes {
    private final Range[] ranges;

    /**
     * One entry of the set.
     *
     * @param type null for any
     * @param subtype null for any; otherwise the whole subtype, or its suffix
     */
    private record Range(@Nullable AsciiString type, @Nullable AsciiString subtype, boolean isSuffix) {
        static Range of(String text) {
            int slash = text.indexOf('/');
            String type = text.substring(0, slash);
            String subtype = text.substring(slash + 1);
            boolean suffix = subtype.startsWith("*+");
            return new Range(
                    type.equals("*") ? null : new AsciiString(type),
                    subtype.equals("*") ? null : new AsciiString(suffix ? subtype.substring(1) : subtype),
                    suffix);
        }

        boolean covers(AsciiString value, int slash, int end) {
            if (type != null && !equals(value, 0, slash, type)) {
                return false;
            }
            AsciiString wanted = subtype;
            if (wanted == null) {
                return true;
            }
            int start = isSuffix ? end - wanted.length() : slash + 1;
            return start > slash && equals(value, start, end, wanted);
        }

        private static boolean equals(AsciiString value, int start, int end, AsciiString wanted) {
            return end - start == wanted.length() && value.regionMatches(true, start, wanted, 0, wanted.length());
        }
    }

    /** Creates the set. Each type has a slash. */
    MediaTypes(List<String> types) {
        ranges = types.stream().map(Range::of).toArray(Range[]::new);
    }

    /** Whether the set has the type of this {@code Content-Type}, whatever its parameters. */
    boolean cover(AsciiString value) {
        int end = end(value);
        int slash = value.indexOf('/', 0);
        if (slash < 0 || slash >= end) {
            return false;
        }
        for (Range range : ranges) {
            if (range.covers(value, slash, end)) {
                return true;
            }
        }
        return false;
    }

    /** Returns the position where the parameters begin. */
    private static int end(AsciiString value) {
        int semicolon = value.indexOf(';', 0);
        int end = semicolon < 0 ? value.length() : semicolon;
        while (end > 0 && (value.byteAt(end - 1) == ' ' || value.byteAt(end - 1) == '\t')) {
            end--;
        }
        return end;
    }
}
