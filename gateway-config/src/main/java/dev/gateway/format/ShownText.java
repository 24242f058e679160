package dev.gateway.format;

/** Texts of strangers as messages show them: short, and without what a terminal takes for a command. */
public final class ShownText {
    private static final int MAX_CHARACTERS = 60;

    private ShownText() {}

    /** Returns a text with question marks for its control characters (C0, DEL and C1). */
    public static String line(String text) {
        return text.replaceAll("\\p{Cc}", "?");
    }

    /** Returns the same, cut off after 60 characters. */
    public static String shorten(String text) {
        String shown = text.length() <= MAX_CHARACTERS ? text : text.substring(0, MAX_CHARACTERS - 3) + "...";
        return line(shown);
    }
}
