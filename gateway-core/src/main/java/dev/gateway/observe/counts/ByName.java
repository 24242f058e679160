package dev.gateway.observe.counts;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What one event loop counts by configured names. The loop asks for each request: a name that was found before is found
 * by its identity, as what configuration was compiled to always has the same string for it. Any thread may ask otherwise.
 */
public final class ByName<T> {
    private static final int SLOTS = 1 << 8; // names beyond share them, and may have to be looked up

    private final Map<String, T> all = new ConcurrentHashMap<>();
    private final Function<String, T> maker;
    // Of the loop only.
    private final @Nullable String[] names = new @Nullable String[SLOTS];
    private final @Nullable Object[] found = new @Nullable Object[SLOTS];

    /** Makes it; the function makes what counts for a new name. */
    public ByName(Function<String, T> maker) {
        this.maker = maker;
    }

    /** Returns what counts for a name; to be called on the loop. */
    @SuppressWarnings({"unchecked", "ReferenceEquality"}) // found in a map if it is another string of the same text
    public T onLoop(String name) {
        int slot = slot(name);
        Object known = found[slot];
        if (known != null && names[slot] == name) {
            return (T) known;
        }
        T value = get(name);
        names[slot] = name;
        found[slot] = value;
        return value;
    }

    private static int slot(String name) {
        return (name.hashCode() * 0x9E3779B9) >>> 24;
    }

    /** Returns what counts for a name. */
    public T get(String name) {
        T known = all.get(name); // which locks nothing, as the other may even if the name is there
        return known != null ? known : all.computeIfAbsent(name, maker);
    }

    /** Returns everything, which grows while configurations bring new names. */
    public Map<String, T> all() {
        return all;
    }
}
