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
     * Removes every field of a name, and of names that differ only in signs, which some servers cannot tell apart.
     *
     * @return whether there was any
     */
    public static boolean removeAlike(Fields fields, FieldName name) {
        AsciiString lower = name.lower();
        int before = fields.size();
        fields.remove(name);
        fields.removeUnknown((bytes, start, length) -> isAlike(lower, bytes, start, length));
        return fields.size() < before;
    }

    private static boolean isAlike(AsciiString name, byte[] bytes, int start, int length) {
        if (length != name.length()) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            byte wanted = name.byteAt(i);
            byte found = bytes[start + i];
            if (Ascii.lower(found) != wanted && !(isSign(wanted) && isSign(found))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isSign(byte b) {
        return b == '-' || Ascii.isOdd(b);
    }

    /** Removes all such fields. */
    public static void remove(Fields fields) {
        fields.removeUnknown(Ascii::isOddToken);
    }
}
