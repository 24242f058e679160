package dev.gateway.plugin;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Settings of one filter, as the configuration has them. Defaults are filled in. Immutable.
 *
 * <pre>{@code
 * String text = settings.get(TEXT);
 * }</pre>
 */
public final class Settings {
    private final String place;
    private final Map<String, Object> values;

    /**
     * Makes settings; the gateway does so, and tests may.
     *
     * @param place where they were written: file, line and column
     * @param values by the names of their keys, each of the class that its key says
     */
    public Settings(String place, Map<String, Object> values) {
        this.place = place;
        Map<String, Object> copy = new HashMap<>();
        values.forEach((key, value) -> copy.put(key, value instanceof List<?> list ? List.copyOf(list) : value));
        this.values = Map.copyOf(copy);
    }

    /**
     * Returns the value of a key that is required or has a default.
     *
     * @throws IllegalArgumentException if there is no value: the plugin does not declare the key, or the key is optional
     */
    public <T> T get(SettingKey<T> key) {
        T value = find(key);
        if (value == null) {
            throw new IllegalArgumentException("no value of the key '" + key + "'");
        }
        return value;
    }

    /** Returns the value of an optional key, null if it was not written. */
    @SuppressWarnings("unchecked") // values were read by their keys
    public <T> @Nullable T find(SettingKey<T> key) {
        return (T) values.get(key.name());
    }

    /** Returns where they were written, as {@code FILE:LINE:COLUMN}. */
    public String place() {
        return place;
    }

    /** Whether both have the same values, wherever they were written. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Settings settings && values.equals(settings.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }
}
