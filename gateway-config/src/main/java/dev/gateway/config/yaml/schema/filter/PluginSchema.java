package dev.gateway.config.yaml.schema.filter;

import dev.gateway.config.filter.FilterDeclaration;
import dev.gateway.config.filter.PluginFilterConfig;
import dev.gateway.config.yaml.type.Key;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Type;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import dev.gateway.plugin.SettingForm;
import dev.gateway.plugin.SettingKey;
import dev.gateway.plugin.Settings;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/** Filters of plugins: makes the types of the configuration file of the keys that a plugin declares. */
final class PluginSchema {
    private PluginSchema() {}

    /** Returns the filter type of a plugin. */
    static FilterType<PluginFilterConfig, Settings> type(FilterDeclaration declaration) {
        String key = key(declaration.type());
        return new FilterType<>(
                declaration.type(),
                key,
                PluginFilterConfig.class,
                ObjectType.of(key + " filter", declaration.description(), o -> declare(declaration, o)),
                (position, settings) -> new PluginFilterConfig(position, declaration, settings),
                PluginFilterConfig::settings);
    }

    /** Returns the key that holds the settings of a type: {@code urlRewrite} for {@code URLRewrite}. */
    static String key(String type) {
        int capitals = 1;
        while (capitals < type.length() && Character.isUpperCase(type.charAt(capitals))) {
            capitals++;
        }
        int lower = capitals == 1 || capitals == type.length() ? capitals : capitals - 1;
        return type.substring(0, lower).toLowerCase(Locale.ROOT) + type.substring(lower);
    }

    private static Function<Values, Settings> declare(
            FilterDeclaration declaration, ObjectType.Declaration<Settings> o) {
        List<Key<Settings, ?>> keys = new ArrayList<>();
        declaration.keys().forEach(each -> keys.add(declare(each, o)));
        return values -> {
            Map<String, Object> read = new HashMap<>();
            for (Key<Settings, ?> each : keys) {
                Object value = values.find(each);
                if (value != null) {
                    read.put(each.name(), value);
                }
            }
            Settings settings = new Settings(values.position().toString(), read);
            if (values.isSound()) {
                declaration.check(
                        settings, (key, message) -> values.error(values.at(key.name()), key.name() + ": " + message));
            }
            return settings;
        };
    }

    private static <T> Key<Settings, T> declare(SettingKey<T> key, ObjectType.Declaration<Settings> o) {
        Type<T> type = type(key.form());
        T fallback = key.fallback();
        if (fallback != null) {
            return o.defaulted(key.name(), type, fallback, settings -> settings.find(key), key.description());
        }
        return key.isRequired()
                ? o.required(key.name(), type, settings -> settings.find(key), key.description())
                : o.optional(key.name(), type, settings -> settings.find(key), key.description());
    }

    @SuppressWarnings("unchecked") // SettingKey makes no other pairs of form and class
    private static <T> Type<T> type(SettingForm form) {
        return (Type<T>) typeOf(form);
    }

    private static Type<?> typeOf(SettingForm form) {
        if (form instanceof SettingForm.Word word) {
            Map<String, String> words = new LinkedHashMap<>();
            word.words().forEach(each -> words.put(each, each));
            return Types.words(words, Map.of());
        } else if (form instanceof SettingForm.Whole whole) {
            return Types.integer(whole.minimum(), whole.maximum());
        } else if (form instanceof SettingForm.Flag) {
            return Types.BOOLEAN;
        } else if (form instanceof SettingForm.Span) {
            return Types.DURATION;
        } else if (form instanceof SettingForm.Size) {
            return Types.SIZE;
        } else if (form instanceof SettingForm.FileName) {
            return Types.PATH;
        } else if (form instanceof SettingForm.Several several) {
            return new ListType<>(typeOf(several.element()), 0);
        }
        return Types.TEXT;
    }
}
