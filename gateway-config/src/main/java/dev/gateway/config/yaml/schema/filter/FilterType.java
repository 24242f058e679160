package dev.gateway.config.yaml.schema.filter;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.type.Key;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Type;
import dev.gateway.config.yaml.type.Values;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Filter type: what the configuration file knows of one.
 *
 * @param name as {@link FilterConfig#type} returns it
 * @param key holds the settings
 * @param record what is made of them
 * @param settings how they are read
 * @param maker makes the record of its position and its settings
 * @param written returns the settings of a record
 * @param check of each filter in its rule that could be read; reports what is wrong to the scope of the site
 * @param answers whether its filters answer all requests, so that their rules need no upstream
 * @param hints to this type, where other words or places are written
 */
public record FilterType<C extends FilterConfig, S>(
        String name,
        String key,
        Class<C> record,
        Type<S> settings,
        BiFunction<Position, S, C> maker,
        Function<C, S> written,
        BiConsumer<C, RuleSite> check,
        boolean answers,
        List<FilterHint> hints)
        implements FilterSlot {
    public FilterType {
        hints = List.copyOf(hints);
    }

    /** Makes a type without a check, whose filters let requests continue. */
    public FilterType(
            String name,
            String key,
            Class<C> record,
            Type<S> settings,
            BiFunction<Position, S, C> maker,
            Function<C, S> written) {
        this(name, key, record, settings, maker, written, (filter, site) -> {}, false, List.of());
    }

    /** Makes a type whose settings are its record. */
    public static <C extends FilterConfig> FilterType<C, C> of(
            String name, String key, Class<C> record, Type<C> settings) {
        return new FilterType<>(name, key, record, settings, (position, config) -> config, config -> config);
    }

    /** Returns the same type with a check of its filters. */
    public FilterType<C, S> checkedBy(BiConsumer<C, RuleSite> how) {
        return new FilterType<>(name, key, record, settings, maker, written, how, answers, hints);
    }

    /** Returns the same type, whose filters answer all requests. */
    public FilterType<C, S> answering() {
        return new FilterType<>(name, key, record, settings, maker, written, check, true, hints);
    }

    /** Returns the same type, which others call by these words. */
    public FilterType<C, S> alsoCalled(String words) {
        return hinting(FilterHint.Place.FILTER_TYPE, words, name);
    }

    /** Returns the same type with a hint, which the gateway gives where one of these words is written in a place. */
    public FilterType<C, S> hinting(FilterHint.Place place, String words, String hint) {
        List<FilterHint> all = Stream.concat(hints.stream(), Stream.of(new FilterHint(place, words, hint)))
                .toList();
        return new FilterType<>(name, key, record, settings, maker, written, check, answers, all);
    }

    /** Checks a filter if it is of this type. */
    void check(FilterConfig filter, RuleSite site) {
        if (record.isInstance(filter)) {
            check.accept(record.cast(filter), site);
        }
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
