package dev.gateway.config.yaml.schema.filter;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.filter.FilterDeclaration;
import dev.gateway.config.filter.PluginFilterConfig;
import dev.gateway.config.filter.UncheckedFilterConfig;
import dev.gateway.config.yaml.type.FeatureList;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.plugin.FilterPlace;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Filter types: the table of what a filter may be, from which reading, the JSON Schema, printing and the reference follow.
 * In the order in which requests pass them, which {@code BuiltInFilters} gives the reasons for.
 */
public final class FilterTypes {
    private static final Pattern TYPE_NAME = Pattern.compile("[A-Z][A-Za-z0-9]{0,62}");

    /** All types of the gateway itself, and the places for those of plugins. */
    private static final List<FilterSlot> ORDER =
            FeatureList.find(FilterTypeList.class).inOrder();

    /** The types of the gateway itself. */
    public static final FilterTypes BUILT_IN = with(List.of());

    /** The types of the gateway itself, where filters of all other types are not checked: a warning reports each. */
    public static final FilterTypes AND_UNCHECKED = new FilterTypes(BUILT_IN.all, Others.WARNED_OF);

    /** The same without a warning, for readers who want to know something else of the configuration. */
    public static final FilterTypes AND_IGNORED = new FilterTypes(BUILT_IN.all, Others.IGNORED);

    private final List<FilterType<?, ?>> all;
    private final Others others;
    private final Supplier<String> absent;

    /** What becomes of filters of other types. */
    enum Others {
        WRONG,
        WARNED_OF,
        IGNORED
    }

    private FilterTypes(List<FilterType<?, ?>> all) {
        this(all, Others.WRONG);
    }

    private FilterTypes(List<FilterType<?, ?>> all, Others others) {
        this(all, others, () -> "");
    }

    private FilterTypes(List<FilterType<?, ?>> all, Others others, Supplier<String> absent) {
        this.all = all;
        this.others = others;
        this.absent = absent;
    }

    /**
     * Returns the same types with a reason why no plugin has another.
     *
     * @param why returns it as a clause, such as "there is no directory of plugins"; asked only if a type is missing
     */
    public FilterTypes withoutOthers(Supplier<String> why) {
        return new FilterTypes(all, others, why);
    }

    /** Returns the types of the gateway itself, and those of plugins in their places. */
    public static FilterTypes with(List<? extends FilterDeclaration> plugins) {
        List<FilterType<?, ?>> all = new ArrayList<>();
        for (FilterSlot slot : ORDER) {
            if (slot instanceof FilterType<?, ?> type) {
                all.add(type);
            } else if (slot instanceof FilterSlot.Plugins here) {
                plugins.stream()
                        .filter(plugin -> plugin.place() == here.place())
                        .forEach(plugin -> all.add(PluginSchema.type(plugin)));
            }
        }
        return new FilterTypes(all);
    }

    /** Returns the types of the gateway itself, and those of plugins that a configuration uses. */
    public static FilterTypes of(GatewayConfig config) {
        if (config.hasUncheckedFilters()) {
            return AND_UNCHECKED;
        }
        List<FilterDeclaration> plugins = config.pluginTypes();
        return plugins.isEmpty() ? BUILT_IN : with(plugins);
    }

    /**
     * Returns the key that holds the settings of a type of a plugin.
     *
     * @throws IllegalArgumentException if the type cannot have this name; the message says why
     */
    public static String keyOf(String type) {
        if (!TYPE_NAME.matcher(type).matches()) {
            throw new IllegalArgumentException("the filter type '" + type
                    + "' needs another name: up to 63 letters and digits, first a capital letter");
        }
        String key = PluginSchema.key(type);
        boolean taken = BUILT_IN.all.stream()
                        .anyMatch(each ->
                                each.name().equalsIgnoreCase(type) || each.key().equals(key))
                || key.equals("type");
        if (taken) {
            throw new IllegalArgumentException(
                    "the filter type '" + type + "' needs another name: the gateway has this one itself");
        }
        return key;
    }

    /** Checks a filter of the gateway itself in its rule. */
    public static void check(FilterConfig filter, RuleSite site) {
        BUILT_IN.all.forEach(type -> type.check(filter, site));
    }

    /** Whether requests pass one filter before another, wherever a rule has them. */
    public static boolean runsBefore(FilterConfig filter, FilterConfig other) {
        return order(filter) < order(other);
    }

    /** Returns the filters of a rule in the order in which they see requests. */
    public static List<FilterConfig> inOrder(List<FilterConfig> filters) {
        List<FilterConfig> sorted = new ArrayList<>(filters);
        sorted.sort(Comparator.comparingInt(FilterTypes::order));
        return sorted;
    }

    /** Returns where in the order of all filters a filter runs. */
    public static int order(FilterConfig filter) {
        if (filter instanceof PluginFilterConfig plugin) {
            return ORDER.indexOf(new FilterSlot.Plugins(plugin.declaration().place()));
        }
        return filter instanceof UncheckedFilterConfig
                ? ORDER.indexOf(new FilterSlot.Plugins(FilterPlace.REQUEST)) // where most are
                : order(filter.getClass());
    }

    /** Returns where in the order of all filters those of a type of the gateway itself run. */
    public static int order(Class<? extends FilterConfig> settings) {
        for (int i = 0; i < ORDER.size(); i++) {
            if (ORDER.get(i) instanceof FilterType<?, ?> type && type.record() == settings) {
                return i;
            }
        }
        return -1;
    }

    /** Declares the words that others write in a place for filters that the gateway itself has, each with its hint. */
    public static void hint(FilterHint.Place place, ObjectType.Declaration<?> o) {
        BUILT_IN.hints(place).forEach(hint -> o.foreign(hint.words(), hint.meant()));
    }

    Stream<FilterHint> hints(FilterHint.Place place) {
        return all.stream().flatMap(type -> type.hints().stream()).filter(hint -> hint.place() == place);
    }

    List<FilterType<?, ?>> all() {
        return all;
    }

    /** Returns why no plugin has another type, empty if that is not known. */
    String absent() {
        return absent.get();
    }

    Others others() {
        return others;
    }

    /** Whether this may be a type of a plugin. */
    boolean isOther(String type) {
        return TYPE_NAME.matcher(type).matches() && !names().contains(type);
    }

    /** Returns the names of all types, in the order in which requests pass them. */
    public List<String> names() {
        return all.stream().map(FilterType::name).toList();
    }

    /** Returns the names of the types whose filters answer all requests, in the same order. */
    public List<String> answering() {
        return all.stream().filter(FilterType::answers).map(FilterType::name).toList();
    }
}
