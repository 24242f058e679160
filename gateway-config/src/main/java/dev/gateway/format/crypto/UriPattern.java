package dev.gateway.format.crypto;

import org.jspecify.annotations.Nullable;

/**
 * Which URIs of certificates are meant: one, or all below it.
 *
 * @param start the URI; if it stands for all below it, what these begin with, up to a slash
 * @param below whether all longer URIs are meant that begin so
 */
public record UriPattern(String start, boolean below) {
    private static final String WILDCARD = "/*";
    private static final int MOST_BYTES = 2048;

    /**
     * Returns the pattern of a text: a URI, or a URI with an authority, and {@code /*} after it. Null if the text is neither. A
     * SPIFFE ID is a valid one, so the wildcard never stands for trust domains.
     */
    public static @Nullable UriPattern parse(String text) {
        boolean below = text.endsWith(WILDCARD);
        String uri = below ? text.substring(0, text.length() - WILDCARD.length()) : text;
        if (!isUri(uri) || (below && !hasAuthority(uri)) || (SpiffeId.hasScheme(uri) && !SpiffeId.isValid(uri))) {
            return null;
        }
        return below ? new UriPattern(uri + '/', true) : new UriPattern(uri, false);
    }

    private static boolean isUri(String uri) {
        int colon = uri.indexOf(':');
        return colon > 0
                && colon < uri.length() - 1
                && uri.length() <= MOST_BYTES
                && uri.substring(0, colon).matches("[A-Za-z][A-Za-z0-9+.-]*")
                && uri.chars().allMatch(c -> c > ' ' && c < 0x7f && c != '*');
    }

    private static boolean hasAuthority(String uri) {
        int slashes = uri.indexOf("://");
        return slashes > 0
                && uri.length() > slashes + 3
                && uri.charAt(slashes + 3) != '/'
                && uri.indexOf('?') < 0
                && uri.indexOf('#') < 0;
    }

    /** Whether a URI is meant. */
    public boolean matches(String uri) {
        return below ? uri.length() > start.length() && uri.startsWith(start) : uri.equals(start);
    }
}
