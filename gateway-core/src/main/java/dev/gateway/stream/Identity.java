package dev.gateway.stream;

import dev.gateway.message.FieldText;
import java.util.Set;

/**
 * Authenticated identity: who a client has proven to be.
 *
 * @param name a user's name, or what stands for it; safe to be logged
 * @param groups the groups that it is a member of
 */
public record Identity(String name, Set<String> groups) {
    /**
     * Whether a name is written as it is wherever it goes, so that no other name looks the same there: in UTF-8, without
     * control characters, and without blanks at its ends, which recipients drop.
     */
    public static boolean isExact(String name) {
        return FieldText.of(name) != null
                && !isBlank(name.codePointAt(0))
                && !isBlank(name.codePointBefore(name.length()))
                && name.chars().noneMatch(Character::isISOControl);
    }

    private static boolean isBlank(int c) {
        return Character.isWhitespace(c) || Character.isSpaceChar(c);
    }
}
