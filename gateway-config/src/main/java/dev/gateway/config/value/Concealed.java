package dev.gateway.config.value;

import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * Masked values (secrets). Which values of a configuration must not be shown, because environment variables are part of
 * them: by the object that was read and the key in it. What is read of a file takes notes here; then nobody changes it any
 * more.
 */
public final class Concealed {
    /** Nothing is concealed. */
    public static final Concealed NOTHING = new Concealed();

    private final IdentityHashMap<Object, Set<String>> keys = new IdentityHashMap<>();

    /** Notes that a key's value must not be shown. */
    public void add(Object owner, Set<String> more) {
        if (!more.isEmpty()) {
            keys.computeIfAbsent(owner, any -> new HashSet<>()).addAll(more);
        }
    }

    /** Notes that an object was written where another was. */
    public void inherit(Object owner, Object origin) {
        add(owner, keys.getOrDefault(origin, Set.of()));
    }

    /** Whether the value of an object's key must not be shown. */
    public boolean has(Object owner, String key) {
        return !keys.isEmpty() && keys.getOrDefault(owner, Set.of()).contains(key);
    }
}
