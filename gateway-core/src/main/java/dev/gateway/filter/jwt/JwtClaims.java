package dev.gateway.filter.jwt;

import dev.gateway.message.FieldText;
import dev.gateway.stream.Identity;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Claims of one token: what they say, for those who ask. Immutable, as long as nobody changes the map. */
final class JwtClaims {
    /** Later than all that a clock shows, and small enough for sums. */
    static final long FOREVER = Long.MAX_VALUE / 4;

    private static final int MAX_IDENTITY = 256; // characters

    /** OAuth writes several values into one string (RFC 8693, section 4.2). */
    private static final Set<String> LISTS_OF_WORDS = Set.of("scope", "scp");

    private final Map<?, ?> claims;

    JwtClaims(Map<?, ?> claims) {
        this.claims = claims;
    }

    /** Returns what a claim says, null if it is not there; a dot may lead into an object. */
    @Nullable
    Object find(String name) {
        return find(claims, name);
    }

    private static @Nullable Object find(Map<?, ?> object, String name) {
        Object whole = object.get(name);
        for (int dot = name.indexOf('.'); whole == null && dot >= 0; dot = name.indexOf('.', dot + 1)) {
            if (object.get(name.substring(0, dot)) instanceof Map<?, ?> inner) {
                whole = find(inner, name.substring(dot + 1));
            }
        }
        return whole;
    }

    /**
     * Returns the second that a claim names.
     *
     * @param absent what it is without the claim
     * @return null if it is no number
     */
    @Nullable
    Long second(String name, long absent) {
        if (!claims.containsKey(name)) {
            return absent;
        }
        if (!(claims.get(name) instanceof Number number)) {
            return null;
        }
        long second = number instanceof Long whole ? whole : (long) Math.floor(number.doubleValue());
        return Math.max(-FOREVER, Math.min(FOREVER, second));
    }

    /** Whether the token is for one of the audiences, of which it may have one or a list. */
    boolean isFor(Set<String> audiences) {
        Object audience = claims.get("aud");
        return audiences.isEmpty()
                || (audience instanceof String one && audiences.contains(one))
                || (audience instanceof List<?> several && several.stream().anyMatch(audiences::contains));
    }

    /** Whether a claim has one of the values. */
    boolean has(JwtRules.Required required) {
        Object claim = find(required.claim());
        if (claim == null || required.values().isEmpty()) {
            return claim != null;
        }
        if (claim instanceof List<?> several) {
            return several.stream().anyMatch(each -> required.values().contains(text(each)));
        }
        String text = text(claim);
        return LISTS_OF_WORDS.contains(required.claim())
                ? List.of(text.split(" ", -1)).stream().anyMatch(required.values()::contains)
                : required.values().contains(text);
    }

    /** Returns a string, a number or a boolean as text; empty for all else. */
    private static String text(@Nullable Object value) {
        return value instanceof String || value instanceof Number || value instanceof Boolean ? value.toString() : "";
    }

    /**
     * Returns what some claims say, a list with line breaks; without those that are not there, are objects, or have line breaks
     * in their texts.
     */
    Map<String, String> texts(List<String> names) {
        Map<String, String> texts = new HashMap<>();
        for (String name : names) {
            Object value = find(name);
            if (value instanceof List<?> several) {
                List<String> lines = several.stream().map(JwtClaims::text).toList();
                if (lines.stream().allMatch(JwtClaims::isLine)) {
                    texts.put(name, String.join("\n", lines));
                }
            } else {
                String text = text(value);
                if (!text.isEmpty() && isLine(text)) {
                    texts.put(name, text);
                }
            }
        }
        return texts;
    }

    private static boolean isLine(String text) {
        return text.indexOf('\n') < 0;
    }

    /** Returns whom a claim names, null if a log or a field would show the name as another one. */
    @Nullable
    Identity identity(String claim) {
        String name = text(find(claim));
        return name.length() <= MAX_IDENTITY && Identity.isExact(name) ? new Identity(name, Set.of()) : null;
    }

    /**
     * Returns a claim as the value of a header field, a list with commas. Empty if it is not there, or if a field would say
     * something else than the claim.
     */
    Optional<AsciiString> header(String claim) {
        Object value = find(claim);
        List<String> texts = new ArrayList<>();
        if (value instanceof List<?> several) {
            for (Object each : several) {
                String text = text(each);
                if (text.isEmpty() || text.indexOf(',') >= 0) {
                    return Optional.empty();
                }
                texts.add(text);
            }
        } else {
            texts.add(text(value));
        }
        return Optional.ofNullable(FieldText.of(String.join(",", texts)));
    }
}
