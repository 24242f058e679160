package dev.gateway.config.yaml.type;

import dev.gateway.config.value.Concealed;
import org.jspecify.annotations.Nullable;

/**
 * One key of an object.
 *
 * @param presence what it means if the key is absent
 * @param fallback the value then, if presence is DEFAULTED
 * @param getter finds the value in the finished object, for printing; null leaves the key out
 * @param effect what a reload does about a changed value; null is the effect of the key that holds the object
 */
public record Key<R, V>(
        String name,
        Type<V> type,
        Presence presence,
        @Nullable V fallback,
        Getter<R, V> getter,
        String description,
        @Nullable ReloadEffect effect) {

    enum Presence {
        REQUIRED,
        OPTIONAL,
        DEFAULTED,
        /** Absent is the same as an empty mapping. */
        SECTION
    }

    /** Finds a key's value in an object. */
    public interface Getter<R, V> {
        @Nullable
        V of(R owner);
    }

    @Nullable
    Object print(R owner, Concealed concealed) {
        V value = getter.of(owner);
        if (value == null) {
            return null;
        }
        Object printed = type.print(value, concealed);
        return concealed.has(owner, name) ? Secrets.mask(printed) : printed;
    }
}
