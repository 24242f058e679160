package dev.gateway.message;

import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Non-token header names (headersWithUnderscores): names of fields with other characters than letters, digits and hyphens,
 * or that do not begin with a letter. They are legal (RFC 9110, section 5.1), but what runs behind CGI, WSGI and the like
 * sees {@code X_User} or {@code X.User} under the same name as {@code X-User}. So a client with such names can say what
 * a rule has taken out, or what only the gateway should say. And some servers find another end of a message where a name
 * that begins with a digit stands before its length.
 */
public final class OddNames {
    private OddNames() {}

    /** Returns the first such name, null if there is none. */
    public static @Nullable AsciiString first(Fields fields) {
        int found = fields.findUnknown(Ascii::isOddToken);
        return found < 0 ? null : fields.name(found);
    }

    /**
     * Removes every field of a name that the gateway trusts, in whatever spelling an upstream may read it: also those of names
     * that differ only in signs, its twins.
     *
     * @return whether there was any
     */
    public static boolean removeAlike(Fields fields, FieldName name) {
        boolean own = fields.remove(name);
        return fields.removeTwins(name, false) || own;
    }

    /** Removes the twins of a name only: the field in its own spelling stays. Returns whether there was any. */
    public static boolean removeTwins(Fields fields, FieldName name) {
        return fields.removeTwins(name, false);
    }

    /** Removes the twins of a name that are odd themselves: {@code X-User} is a field of its own, not a spelling of {@code X_User}. */
    public static void removeOddTwins(Fields fields, FieldName name) {
        fields.removeTwins(name, true);
    }

    /** Whether there is a twin of a name, which an upstream may take for a second field of it. */
    public static boolean hasTwin(Fields fields, FieldName name) {
        return fields.findTwin(name, 0, false) >= 0;
    }

    /** Removes all such fields. */
    public static void remove(Fields fields) {
        fields.removeUnknown(Ascii::isOddToken);
    }
}
