package dev.gateway.filter.plugin;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.filter.FilterDeclaration;
import dev.gateway.config.yaml.schema.filter.FilterTypes;
import dev.gateway.files.StartException;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterPlugin;
import dev.gateway.plugin.FilterPlace;
import dev.gateway.plugin.SettingErrors;
import dev.gateway.plugin.SettingKey;
import dev.gateway.plugin.Settings;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Filter type of a loaded plugin. Has asked the plugin all that the configuration must know, so that the answers never change.
 */
public final class PluginType implements FilterDeclaration {
    private static final Logger log = LoggerFactory.getLogger(PluginType.class);

    private final FilterPlugin plugin;
    private final String source;
    private final @Nullable Code code;
    private final String type;
    private final String description;
    private final List<SettingKey<?>> keys;
    private final FilterPlace place;
    private final boolean guards;
    private final boolean decidesByPath;
    private final int answer;

    /** The classes of a plugin, which are freed when nobody uses them any more. Any thread may call it. */
    public interface Code {
        /** Somebody more uses them. */
        void retain();

        /** Somebody uses them no more. */
        void release();
    }

    /**
     * Makes the type of a plugin.
     *
     * @param source where the plugin is from, as messages say it: the name of a jar
     * @param code null if nobody frees it
     * @throws IllegalArgumentException if the plugin declares what cannot be; the message says what
     * @throws RuntimeException whatever a method of the plugin throws
     */
    public PluginType(FilterPlugin plugin, String source, @Nullable Code code) {
        this.plugin = plugin;
        this.source = source;
        this.code = code;
        this.type = Objects.requireNonNull(plugin.type(), "type() returned null");
        FilterTypes.keyOf(type); // throws for a name that cannot be
        this.description = Objects.requireNonNull(plugin.description(), "description() returned null");
        this.keys = List.copyOf(plugin.keys());
        Set<String> names = new HashSet<>();
        for (SettingKey<?> key : keys) {
            if (!names.add(key.name())) {
                throw new IllegalArgumentException("the filter type '" + type + "' has two keys '" + key + "'");
            }
        }
        this.place = Objects.requireNonNull(plugin.place(), "place() returned null");
        this.guards = plugin.guards();
        this.decidesByPath = plugin.decidesByPath();
        this.answer = plugin.answer();
        if (answer != 0 && (answer < 200 || answer > 599)) {
            throw new IllegalArgumentException(
                    "the filter type '" + type + "' answers with the status " + answer + ": expected 200 to 599, or 0");
        }
    }

    /** Returns the classes of the plugins that a configuration uses. */
    public static List<Code> codes(GatewayConfig config) {
        return config.pluginTypes().stream()
                .map(each -> each instanceof PluginType plugin ? plugin.code : null)
                .filter(Objects::nonNull)
                .distinct()
                .toList();
    }

    /** Makes a filter. */
    Filter filter(Settings settings) throws StartException {
        try {
            Filter filter = Objects.requireNonNull(plugin.create(settings), "create() returned null");
            return new ContainedFilter(filter, type, source, guards, answer >= 400);
        } catch (Throwable e) {
            rethrowFatal(e);
            log.error("The filter {} of {} cannot be made", type, source, e);
            throw new StartException(
                    settings.place() + ": the filter " + type + " of " + source + " cannot be made: " + e, e);
        }
    }

    /** Throws an error after which the JVM cannot be expected to continue; returns after any other. */
    public static void rethrowFatal(Throwable thrown) {
        if (thrown instanceof VirtualMachineError fatal && !(thrown instanceof StackOverflowError)) {
            throw fatal;
        }
    }

    /** Returns where the plugin is from. */
    public String source() {
        return source;
    }

    @Override
    public String type() {
        return type;
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public List<SettingKey<?>> keys() {
        return keys;
    }

    @Override
    public FilterPlace place() {
        return place;
    }

    @Override
    public boolean guards() {
        return guards;
    }

    @Override
    public boolean decidesByPath() {
        return decidesByPath;
    }

    @Override
    public int answer() {
        return answer;
    }

    @Override
    public void check(Settings settings, SettingErrors errors) {
        if (keys.isEmpty()) {
            return;
        }
        try {
            plugin.check(settings, errors);
        } catch (Throwable e) {
            rethrowFatal(e);
            log.error("The plugin {} of {} failed at its settings", type, source, e);
            errors.error(keys.get(0), "the plugin of " + source + " failed to check this: " + e);
        }
    }

    @Override
    public String toString() {
        return type + " of " + source;
    }
}
