package dev.gateway.message.path;

import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;

/**
 * Path form: the form in which a path is forwarded. Rules and filters always see the normal form, see {@link PathNormalizer}.
 * Another form is for upstreams to which the bytes of a path mean something, as where the client has signed them.
 */
public enum PathForm {
    /** What rules have matched. */
    NORMAL,
    /** The normal form with repeated slashes. */
    SLASHES_KEPT,
    /** As the client wrote it. */
    AS_WRITTEN;

    /**
     * Returns how the path is forwarded, and then how else an upstream may read it. Empty if that would be another path than
     * rules and filters have seen: {@code /a//../b} is {@code /b} with its slashes merged, and else {@code /a/b}.
     *
     * @param written a path that has a normal form
     * @param normal the normal form
     */
    public List<AsciiString> of(AsciiString written, AsciiString normal) {
        if (this == NORMAL) {
            return List.of(normal);
        }
        AsciiString slashes = PathNormalizer.keepSlashes(written);
        if (slashes == null || !normal.equals(PathNormalizer.normalize(slashes))) {
            return List.of();
        }
        return this == SLASHES_KEPT ? List.of(slashes) : asWritten(written, slashes, normal);
    }

    /**
     * Adds to a path what servers make of its dot segments: some see none in {@code %2e}, and some drop the slash that a dot
     * segment at the end leaves, as Go does.
     */
    private static List<AsciiString> asWritten(AsciiString written, AsciiString slashes, AsciiString normal) {
        int end = pathLength(written);
        AsciiString query = written.subSequence(end);
        List<AsciiString> forms = new ArrayList<>(List.of(written, slashes));
        forms.add(PathReadings.resolve(written, end).concat(query));
        int normalEnd = pathLength(normal);
        if (written.byteAt(end - 1) != '/' && normalEnd > 1 && normal.byteAt(normalEnd - 1) == '/') {
            forms.add(slashes.subSequence(0, pathLength(slashes) - 1).concat(query));
            forms.add(normal.subSequence(0, normalEnd - 1).concat(query));
        }
        return forms.stream().distinct().toList();
    }

    private static int pathLength(AsciiString path) {
        int query = path.indexOf('?', 0);
        return query < 0 ? path.length() : query;
    }
}
