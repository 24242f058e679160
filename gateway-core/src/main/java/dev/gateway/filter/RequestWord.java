package dev.gateway.filter;

import java.util.Collections;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Request word: what values of header fields may say of a request. The access log has the same words. */
public enum RequestWord {
    CLIENT,
    PEER,
    LISTENER,
    PROTOCOL,
    METHOD,
    SCHEME,
    AUTHORITY,
    PATH,
    IDENTITY,
    REQUEST_ID,
    SERVER_NAME,
    TLS_PROTOCOL,
    TLS_CIPHER,
    CLIENT_SUBJECT;

    private static final Map<String, RequestWord> BY_TEXT = new HashMap<>();

    static {
        for (RequestWord word : values()) {
            BY_TEXT.put(word.text(), word);
        }
    }

    /** Returns the word of that name, such as {@code requestId}; null if no word has it. */
    public static @Nullable RequestWord of(String text) {
        return BY_TEXT.get(text);
    }

    /** Returns the names of all words. */
    public static Set<String> texts() {
        return Collections.unmodifiableSet(BY_TEXT.keySet());
    }

    /** Returns its name. */
    public String text() {
        StringBuilder text = new StringBuilder();
        for (String part : name().split("_", -1)) {
            String lower = part.toLowerCase(Locale.ROOT);
            text.append(text.isEmpty() ? lower : part.charAt(0) + lower.substring(1));
        }
        return text.toString();
    }
}
