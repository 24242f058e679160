package dev.gateway.message.forwarded;

/**
 * Forwarded node: the name of a hop as {@code Forwarded} (RFC 7239, section 6) and as {@code X-Forwarded-For} write it. No
 * state.
 */
final class ForwardedNode {
    private static final String UNKNOWN = "unknown";

    private ForwardedNode() {}

    /** Returns a hop of {@code X-Forwarded-For} as a value of {@code for}, quoted if it must be. */
    static String standard(String hop) {
        if (!isPlain(hop)) {
            return UNKNOWN;
        }
        int colon = hop.indexOf(':');
        if (colon < 0) {
            boolean known = hop.equals(UNKNOWN) || hop.charAt(0) == '_' || isDigit(hop.charAt(0));
            return known ? hop : "_" + hop; // an obfuscated identifier (RFC 7239, section 6.3)
        }
        boolean bare = hop.charAt(0) != '[' && hop.indexOf(':', colon + 1) >= 0;
        return bare ? "\"[" + hop + "]\"" : "\"" + hop + "\"";
    }

    /** Returns a value of {@code for}, without its quotes, as a hop of {@code X-Forwarded-For}: without a port. */
    static String listed(String node) {
        if (!isPlain(node)) {
            return UNKNOWN;
        }
        if (node.charAt(0) == '[') {
            int end = node.indexOf(']');
            return end < 2 ? UNKNOWN : node.substring(1, end);
        }
        int colon = node.indexOf(':');
        return colon > 0 && colon == node.lastIndexOf(':') ? node.substring(0, colon) : node;
    }

    /** Whether it has no sign that would mean something in a list. */
    private static boolean isPlain(String hop) {
        for (int i = 0; i < hop.length(); i++) {
            char c = hop.charAt(i);
            boolean letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            if (!letter && !isDigit(c) && "._-:[]".indexOf(c) < 0) {
                return false;
            }
        }
        return !hop.isEmpty();
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
