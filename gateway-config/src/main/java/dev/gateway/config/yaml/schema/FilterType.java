package dev.gateway.config.yaml.schema;

import dev.gateway.config.FilterConfig;
import dev.gateway.config.Position;
import dev.gateway.config.yaml.type.Key;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Type;
import dev.gateway.config.yaml.type.Values;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Filter type: what the configuration file knows of one.
 *
 * @param name as {@link FilterConfig#type} returns it
 * @param key holds the settings
 * @param record what is made of them
 * @param settings how they are read
 */
record FilterType<C extends FilterConfig, S>(
        String name,
        String key,
        Class<C> record,
        Type<S> settings,
        BiFunction<Position, S, C> maker,
        Function<C, S> written) {
    /** Makes a type whose settings are its record. */
    static <C extends FilterConfig> FilterType<C, C> of(String name, String key, Class<C> record, Type<C> settings) {
        return new FilterType<>(name, key, record, settings, (position, config) -> config, config -> config);
    }

    /** Declares the key of the settings; returns what reads it, and returns null if it is not there. */
    Reader declare(ObjectType.Declaration<FilterConfig> o) {
        Key<FilterConfig, S> declared = o.optional(
                key,
                settings,
                filter -> name.equals(filter.type()) ? written.apply(record.cast(filter)) : null,
                "Settings of type " + name + ".");
        return values -> {
            S read = values.find(declared);
            return read == null ? null : maker.apply(values.position(), read);
        };
    }

    /** Reads a filter of the type. */
    interface Reader {
        @Nullable
        FilterConfig read(Values values);
    }
}
