package dev.gateway.message.path;

/**
 * Readings of a name: how recipients may read the name of a query parameter or a cookie. They decode it or not, ignore case
 * or blanks around it, end it at a bracket or NUL, or take a dot, a space or a bracket for an underscore, as PHP does.
 */
public final class NameReadings {
    private NameReadings() {}

    /**
     * Whether some recipient may read these bytes as that name.
     *
     * @param bytes have the name as it was received, from {@code start} up to {@code end}
     * @param name that is looked for, not encoded
     */
    public static boolean include(byte[] bytes, int start, int end, byte[] name) {
        int matched = 0;
        int at = start;
        while (at < end) {
            int c = bytes[at++];
            if (c == '+') {
                c = ' ';
            } else if (c == '%' && at + 1 < end) {
                int high = Character.digit(bytes[at], 16);
                int low = Character.digit(bytes[at + 1], 16);
                if (high >= 0 && low >= 0) {
                    c = (byte) (high << 4 | low);
                    at += 2;
                }
            }
            boolean blank = c >= 0 && c <= ' ';
            if (matched == name.length) {
                if (c == '[' || c == 0) {
                    return true;
                } else if (!blank) {
                    return false;
                }
            } else if (matched > 0 || !blank) {
                if (folded(c) != folded(name[matched])) {
                    return false;
                }
                matched++;
            }
        }
        return matched == name.length;
    }

    private static int folded(int c) {
        if (c == ' ' || c == '.' || c == '[') {
            return '_';
        }
        return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
    }
}
