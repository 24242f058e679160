package dev.gateway.config.yaml.schema.route;

import dev.gateway.config.yaml.type.MessageText;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;

/** Origins of pages, such as {@code https://example.com}. */
public final class Origins {
    /** What one looks like. */
    static final String PATTERN = "[A-Za-z][A-Za-z0-9+.-]*://[^/?#@\\s*]+";

    private Origins() {}

    /** Returns an origin as browsers write it, empty if it is not one. */
    public static String written(String text) {
        return text.matches(PATTERN) ? parsed(text.toLowerCase(Locale.ROOT)) : "";
    }

    private static String parsed(String text) {
        try {
            URI uri = new URI(text);
            if (uri.getHost() == null || uri.getPort() > 65535 || text.endsWith(":")) {
                return "";
            }
            boolean usual = uri.getPort() == (uri.getScheme().equals("https") ? 443 : 80);
            return uri.getScheme() + "://" + uri.getHost() + (uri.getPort() < 0 || usual ? "" : ":" + uri.getPort());
        } catch (URISyntaxException e) {
            return "";
        }
    }

    /** Returns a hint for a text that is no origin: the end of an error message, empty if there is no hint. */
    public static String hint(String text) {
        if (!text.contains("://")) {
            return ": did you mean 'https://" + MessageText.shorten(text) + "'?";
        }
        int path = text.indexOf('/', text.indexOf("://") + 3);
        return path < 0 ? "" : ": an origin has no path, write '" + MessageText.shorten(text.substring(0, path)) + "'";
    }
}
