package dev.gateway.plugin;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Key of a filter's settings: its name, what its values may be, and what it means if the configuration lacks it. A key is
 * required, unless {@link #optional} or {@link #withDefault} made it. The gateway reads the values by it, reports mistakes
 * with line and column, and describes the key in the JSON Schema. Immutable.
 *
 * <pre>{@code
 * private static final SettingKey<String> TEXT = SettingKey.text("text", "What the greeting says.");
 * private static final SettingKey<Integer> TIMES =
 *         SettingKey.integer("times", "How often it says so.", 1, 10).withDefault(1);
 * }</pre>
 *
 * @param <T> what a value is in Java
 */
public final class SettingKey<T> {
    private static final Pattern NAME = Pattern.compile("[a-z][A-Za-z0-9]{0,62}");

    private final String name;
    private final String description;
    private final SettingForm form;
    private final boolean required;
    private final @Nullable T fallback;

    private SettingKey(String name, String description, SettingForm form, boolean required, @Nullable T fallback) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "a key has up to 63 letters and digits and begins with a small letter, not '" + name + "'");
        }
        this.name = name;
        this.description = description;
        this.form = form;
        this.required = required;
        this.fallback = fallback;
    }

    private static <T> SettingKey<T> of(String name, String description, SettingForm form) {
        return new SettingKey<>(name, description, form, true, null);
    }

    /** A text. A value that contains an environment variable is masked wherever the gateway prints its configuration. */
    public static SettingKey<String> text(String name, String description) {
        return of(name, description, new SettingForm.Text());
    }

    /** One of some words. */
    public static SettingKey<String> word(String name, String description, String... words) {
        if (words.length == 0) {
            throw new IllegalArgumentException("key '" + name + "' has no words to choose from");
        }
        return of(name, description, new SettingForm.Word(List.of(words)));
    }

    /** A whole number from a minimum to a maximum. */
    public static SettingKey<Integer> integer(String name, String description, int minimum, int maximum) {
        if (minimum > maximum) {
            throw new IllegalArgumentException("key '" + name + "' allows no number");
        }
        return of(name, description, new SettingForm.Whole(minimum, maximum));
    }

    /** True or false. */
    public static SettingKey<Boolean> flag(String name, String description) {
        return of(name, description, new SettingForm.Flag());
    }

    /** A duration, such as {@code 500ms} or {@code 1m30s}. */
    public static SettingKey<Duration> duration(String name, String description) {
        return of(name, description, new SettingForm.Span());
    }

    /** A number of bytes, such as {@code 64KiB}. */
    public static SettingKey<Long> size(String name, String description) {
        return of(name, description, new SettingForm.Size());
    }

    /** The name of a file, of which the plugin gets an absolute path. The gateway does not look whether the file exists. */
    public static SettingKey<Path> file(String name, String description) {
        return of(name, description, new SettingForm.FileName());
    }

    /** Returns the key of a list of such values; required, and possibly empty. */
    public SettingKey<List<T>> list() {
        return of(name, description, new SettingForm.Several(form));
    }

    /** Returns a key that may be absent. {@link Settings#find} then returns null. */
    public SettingKey<T> optional() {
        return new SettingKey<>(name, description, form, false, null);
    }

    /** Returns a key that may be absent, which means this value. */
    public SettingKey<T> withDefault(T value) {
        boolean isOther = form instanceof SettingForm.Word word && !word.words().contains(value);
        boolean isOutside = form instanceof SettingForm.Whole whole
                && value instanceof Integer number
                && (number < whole.minimum() || number > whole.maximum());
        if (isOther || isOutside) {
            throw new IllegalArgumentException("key '" + name + "' does not allow its default " + value);
        }
        return new SettingKey<>(name, description, form, false, value);
    }

    /** Returns its name in the configuration. */
    public String name() {
        return name;
    }

    /** Returns what it is for: a sentence or two, for the JSON Schema. */
    public String description() {
        return description;
    }

    /** Returns what its values may be. */
    public SettingForm form() {
        return form;
    }

    /** Whether the configuration must have it. */
    public boolean isRequired() {
        return required;
    }

    /** Returns the default value, null if the key has none. */
    public @Nullable T fallback() {
        return fallback;
    }

    @Override
    public String toString() {
        return name;
    }
}
