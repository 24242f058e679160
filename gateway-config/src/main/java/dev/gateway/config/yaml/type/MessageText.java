package dev.gateway.config.yaml.type;

/** Texts of a file as messages show them. */
public final class MessageText {
    private MessageText() {}

    /** Returns a text as messages show it, before anything is cut off. */
    static String line(String text) {
        return text.replaceAll("\\p{Cntrl}", "?");
    }

    /** Returns a text as messages quote it. */
    public static String quote(String text) {
        return "'" + shorten(text) + "'";
    }

    /** Returns a text as it stands in quotes: one line, not too long, without credentials of a URL. */
    public static String shorten(String text) {
        String line = line(text).replaceAll("://[^/@\\s]*@", "://***@");
        return line.length() <= 60 ? line : line.substring(0, 57) + "...";
    }
}
