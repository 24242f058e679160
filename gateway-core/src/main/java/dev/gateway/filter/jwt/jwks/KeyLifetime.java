package dev.gateway.filter.jwt.jwks;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** How long a set of keys may be used before it is fetched again, as its server says within bounds (RFC 9111). */
final class KeyLifetime {
    /** No server is asked more often, whatever it says. */
    static final long LEAST_MILLIS = TimeUnit.MINUTES.toMillis(1);

    /** A key that was withdrawn is trusted no longer than that, whatever the server has said. */
    static final long MOST_MILLIS = TimeUnit.HOURS.toMillis(1);

    /** Of servers that do not say. */
    static final long DEFAULT_MILLIS = TimeUnit.MINUTES.toMillis(5);

    private static final FieldName AGE = FieldName.of("Age");
    private static final String MAX_AGE = "max-age=";
    private static final int MOST_DIGITS = 9;

    private KeyLifetime() {}

    static long millis(Fields response) {
        long seconds = -1;
        for (int i = response.find(FieldName.CACHE_CONTROL, 0);
                i >= 0;
                i = response.find(FieldName.CACHE_CONTROL, i + 1)) {
            for (String directive : response.value(i).toString().split(",", -1)) {
                String word = directive.trim().toLowerCase(Locale.ROOT);
                if (word.equals("no-store") || word.equals("no-cache")) {
                    return LEAST_MILLIS;
                } else if (word.startsWith(MAX_AGE)) {
                    seconds = number(word.substring(MAX_AGE.length()));
                }
            }
        }
        if (seconds < 0) {
            return DEFAULT_MILLIS;
        }
        CharSequence age = response.first(AGE);
        long left =
                seconds - (age == null ? 0 : Math.max(0, number(age.toString().trim())));
        return Math.max(LEAST_MILLIS, Math.min(MOST_MILLIS, TimeUnit.SECONDS.toMillis(left)));
    }

    /** Returns a number that is written as such, perhaps in quotes; a large one for one that is larger; -1 for no number. */
    private static long number(String written) {
        String digits = written.replace("\"", "");
        if (digits.isEmpty() || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
            return -1;
        }
        return digits.length() > MOST_DIGITS ? Integer.MAX_VALUE : Long.parseLong(digits);
    }
}
