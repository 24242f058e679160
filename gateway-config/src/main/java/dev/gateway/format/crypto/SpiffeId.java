package dev.gateway.format.crypto;

/** SPIFFE ID: the name of a workload in certificates, {@code spiffe://trust-domain/path}, as the standard of that name has it. */
public final class SpiffeId {
    private static final String SCHEME = "spiffe://";
    private static final int MOST_BYTES = 2048;
    private static final int MOST_OF_DOMAIN = 255;

    private SpiffeId() {}

    /** Whether a URI begins with {@code spiffe:}, ignoring case. Such a URI is either a valid SPIFFE ID or must not be accepted. */
    public static boolean hasScheme(String uri) {
        return uri.regionMatches(true, 0, SCHEME, 0, "spiffe:".length());
    }

    /** Whether a text is such a name; the path may be missing. There is one way to write a name, so texts compare as they are. */
    public static boolean isValid(String uri) {
        if (!uri.startsWith(SCHEME) || uri.length() > MOST_BYTES) {
            return false;
        }
        int path = uri.indexOf('/', SCHEME.length());
        int domainEnd = path < 0 ? uri.length() : path;
        int domain = domainEnd - SCHEME.length();
        if (domain == 0 || domain > MOST_OF_DOMAIN) {
            return false;
        }
        for (int i = SCHEME.length(); i < domainEnd; i++) {
            char c = uri.charAt(i);
            if (!isOfAny(c) || (c >= 'A' && c <= 'Z')) {
                return false;
            }
        }
        return path < 0 || isPath(uri, path);
    }

    private static boolean isPath(String uri, int start) {
        int segment = start + 1;
        for (int i = segment; i <= uri.length(); i++) {
            if (i == uri.length() || uri.charAt(i) == '/') {
                String text = uri.substring(segment, i);
                if (text.isEmpty() || text.equals(".") || text.equals("..")) {
                    return false;
                }
                segment = i + 1;
            } else if (!isOfAny(uri.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isOfAny(char c) {
        return (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || (c >= '0' && c <= '9')
                || c == '.'
                || c == '-'
                || c == '_';
    }
}
