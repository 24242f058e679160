package dev.gateway.format;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Page type: what a file of a page holds, by its extension, and how values are written into it. */
public enum PageType {
    HTML("text/html; charset=utf-8", List.of("text/html"), "html", "htm"),
    /** Also for who asks for a problem (RFC 9457), which is JSON. */
    JSON("application/json", List.of("application/json", "application/problem+json"), "json"),
    TEXT("text/plain; charset=utf-8", List.of("text/plain"), "txt"),
    XML("application/xml", List.of("application/xml", "text/xml"), "xml");

    private final String contentType;
    private final List<String> asked;
    private final List<String> extensions;

    PageType(String contentType, List<String> asked, String... extensions) {
        this.contentType = contentType;
        this.asked = asked;
        this.extensions = List.of(extensions);
    }

    /** Returns the type of a file, null if its extension is that of no page. */
    public static @Nullable PageType of(String file) {
        String name = file.toLowerCase(Locale.ROOT);
        for (PageType type : values()) {
            if (type.extensions.stream().anyMatch(extension -> name.endsWith("." + extension))) {
                return type;
            }
        }
        return null;
    }

    /** Returns all extensions, for messages. */
    public static String allExtensions() {
        return Arrays.stream(values())
                .flatMap(type -> type.extensions.stream())
                .map(extension -> "." + extension)
                .collect(Collectors.joining(", "));
    }

    /** Returns the value of {@code Content-Type}. */
    public String contentType() {
        return contentType;
    }

    /** Returns the media types that clients ask for who want this one. */
    public List<String> asked() {
        return asked;
    }

    /** Returns a value as it stands in such a page, so that it never ends the text that it is part of. */
    public String escape(String value) {
        return switch (this) {
            case HTML, XML -> markup(value);
            case JSON -> json(value);
            case TEXT -> value;
        };
    }

    private static String markup(String value) {
        StringBuilder escaped = new StringBuilder(value.length());
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            switch (c) {
                case '&' -> escaped.append("&amp;");
                case '<' -> escaped.append("&lt;");
                case '>' -> escaped.append("&gt;");
                case '"' -> escaped.append("&quot;");
                case '\'' -> escaped.append("&#39;");
                default -> escaped.append(c);
            }
        }
        return escaped.toString();
    }

    private static String json(String value) {
        StringBuilder quoted = new StringBuilder(value.length() + 2);
        JsonString.append(quoted, value);
        return quoted.substring(1, quoted.length() - 1);
    }
}
