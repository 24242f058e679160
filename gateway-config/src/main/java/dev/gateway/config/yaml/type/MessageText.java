package dev.gateway.config.yaml.type;

import dev.gateway.format.ShownText;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Texts of a file as messages show them. */
public final class MessageText {
    /** What needs no quotes inside brackets, and is no other value there, such as null. */
    private static final Pattern PLAIN =
            Pattern.compile("(?!(null|true|false)$)[A-Za-z0-9_./^$(+][\\w./^$()+*?=@%<>:-]*(?<!:)");

    private static final Pattern WORDS = Pattern.compile("[^,\\s{}()\\[\\]\"']+(\\s*,\\s*[^,\\s{}()\\[\\]\"']+)+");

    private MessageText() {}

    /** Returns a text as messages quote it. */
    public static String quote(String text) {
        return "'" + shorten(text) + "'";
    }

    /**
     * Returns how YAML writes a text as a list in brackets: words that commas separate as several elements, anything else as
     * one. Empty if the text cannot be shown whole.
     */
    static String list(String text) {
        if (!shorten(text).equals(text)) {
            return "";
        }
        List<String> elements = WORDS.matcher(text).matches() ? List.of(text.split("\\s*,\\s*")) : List.of(text);
        return elements.stream().map(MessageText::element).collect(Collectors.joining(", ", "[", "]"));
    }

    private static String element(String text) {
        if (PLAIN.matcher(text).matches()) {
            return text;
        }
        return text.indexOf('"') < 0 && text.indexOf('\\') < 0 ? '"' + text + '"' : "'" + text.replace("'", "''") + "'";
    }

    /** Returns a text as a hint writes it into a mapping or list of YAML. */
    static String scalar(String text) {
        String shown = shorten(text);
        return shown.matches("[A-Za-z0-9/._+-]([A-Za-z0-9/._+~$-]|:(?=\\S))*")
                ? shown
                : '"' + shown.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    /** Returns a text as it stands in quotes: one line, not too long, without credentials of a URL. */
    public static String shorten(String text) {
        String line = ShownText.line(text).replaceAll("://[^/@\\s]*@", "://***@");
        return line.length() <= 60 ? line : line.substring(0, 57) + "...";
    }
}
