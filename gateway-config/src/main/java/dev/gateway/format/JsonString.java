package dev.gateway.format;

/**
 * JSON string writer: the one place that quotes texts, for JSON on one line, for indented JSON and for YAML, which reads
 * such a string alike, except that not every reader of YAML joins the two halves of an escaped character beyond U+FFFF.
 * Letters of all languages stay readable. What cannot be seen is escaped, so that no text can break a line, hide a part of
 * itself or turn its direction.
 */
public final class JsonString {
    private static final String HEX = "0123456789abcdef";

    private JsonString() {}

    /** Appends a text in double quotes. */
    public static void append(StringBuilder out, String text) {
        out.append('"');
        int length;
        for (int i = 0; i < text.length(); i += length) {
            int c = text.codePointAt(i);
            length = Character.charCount(c);
            switch (c) {
                case '"', '\\' -> out.append('\\').append((char) c);
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    if (isSeen(c)) {
                        out.appendCodePoint(c);
                    } else {
                        text.substring(i, i + length).chars().forEach(half -> escape(out, half));
                    }
                }
            }
        }
        out.append('"');
    }

    private static boolean isSeen(int c) {
        return c < 0x7f
                ? c >= ' '
                : switch (Character.getType(c)) {
                    case Character.CONTROL,
                            Character.FORMAT,
                            Character.LINE_SEPARATOR,
                            Character.PARAGRAPH_SEPARATOR,
                            Character.SURROGATE,
                            Character.UNASSIGNED -> false;
                    default -> true;
                };
    }

    private static void escape(StringBuilder out, int c) {
        out.append("\\u");
        for (int shift = 12; shift >= 0; shift -= 4) {
            out.append(HEX.charAt(c >>> shift & 0xf));
        }
    }
}
