package dev.gateway.admin;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Query parameters: the parameters of a request for a page. Immutable. */
public final class Query {
    private final Map<String, List<String>> values = new LinkedHashMap<>();

    /**
     * Takes a query apart.
     *
     * @param text what follows the question mark; {@code +} is a space, a percent sign that starts no escape is itself
     */
    public Query(String text) {
        for (String pair : text.split("&", -1)) {
            int equals = pair.indexOf('=');
            String name = decode(equals < 0 ? pair : pair.substring(0, equals));
            if (!name.isEmpty()) {
                values.computeIfAbsent(name, key -> new ArrayList<>())
                        .add(equals < 0 ? "" : decode(pair.substring(equals + 1)));
            }
        }
    }

    static String decode(String text) {
        byte[] raw = text.getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream decoded = new ByteArrayOutputStream(raw.length);
        for (int i = 0; i < raw.length; i++) {
            int high = i + 2 < raw.length ? Character.digit(raw[i + 1], 16) : -1;
            int low = i + 2 < raw.length ? Character.digit(raw[i + 2], 16) : -1;
            if (raw[i] == '%' && high >= 0 && low >= 0) {
                decoded.write(high << 4 | low);
                i += 2;
            } else {
                decoded.write(raw[i] == '+' ? ' ' : raw[i]);
            }
        }
        return decoded.toString(StandardCharsets.UTF_8);
    }

    /** Returns the first value of a parameter, or null. */
    public @Nullable String first(String name) {
        List<String> all = values.get(name);
        return all == null ? null : all.get(0);
    }

    /** Returns the first value of a parameter, or what it is if it is not there. */
    public String first(String name, String otherwise) {
        String value = first(name);
        return value == null ? otherwise : value;
    }

    /** Returns all values of a parameter, in their order. */
    public List<String> all(String name) {
        return values.getOrDefault(name, List.of());
    }

    /**
     * Returns a number.
     *
     * @throws IllegalArgumentException if it is not one, or not in range
     */
    public long number(String name, long otherwise, long least, long most) {
        String text = first(name);
        if (text == null) {
            return otherwise;
        }
        if (text.matches("[0-9]{1,18}")) {
            long value = Long.parseLong(text);
            if (value >= least && value <= most) {
                return value;
            }
        }
        throw new IllegalArgumentException(name + ": expected a number from " + least + " to " + most);
    }

    /**
     * Refuses what a page does not know, so that nothing that was asked for is left out in silence.
     *
     * @throws IllegalArgumentException if there is another parameter
     */
    public void allow(Set<String> known) {
        for (String name : values.keySet()) {
            if (!known.contains(name)) {
                throw new IllegalArgumentException("unknown parameter '" + name + "': expected one of "
                        + String.join(", ", known.stream().sorted().toList()));
            }
        }
    }
}
