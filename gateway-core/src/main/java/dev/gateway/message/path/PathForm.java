package dev.gateway.message.path;

import io.netty.util.AsciiString;
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
        return this == SLASHES_KEPT ? List.of(slashes) : List.of(written, slashes);
    }
}
