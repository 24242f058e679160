package dev.gateway.filter;

import dev.gateway.plugin.FilterPlace;
import dev.gateway.plugin.SettingErrors;
import dev.gateway.plugin.SettingKey;
import dev.gateway.plugin.Settings;
import java.util.List;

/**
 * Filter type of your own. A jar in the directory of plugins names its classes of this kind in {@code
 * META-INF/services/dev.gateway.filter.FilterPlugin}; each needs a public constructor without parameters. A program that
 * embeds the gateway may give it objects instead. Example:
 *
 * <pre>{@code
 * public final class AddGreetingPlugin implements FilterPlugin {
 *     private static final SettingKey<String> TEXT = SettingKey.text("text", "What the greeting says.");
 *     private static final FieldName GREETING = FieldName.of("x-greeting");
 *
 *     public String type() {
 *         return "AddGreeting";
 *     }
 *
 *     public String description() {
 *         return "Adds the field X-Greeting to responses.";
 *     }
 *
 *     public List<SettingKey<?>> keys() {
 *         return List.of(TEXT);
 *     }
 *
 *     public Filter create(Settings settings) {
 *         AsciiString text = new AsciiString(settings.get(TEXT));
 *         return new Filter() {
 *             public void onResponse(ResponseHead head, FilterContext context) {
 *                 head.fields().set(GREETING, text);
 *             }
 *         };
 *     }
 * }
 * }</pre>
 *
 * <p>A rule of the configuration then has {@code {type: AddGreeting, addGreeting: {text: Hello}}}. The test kit, {@code
 * dev.gateway.testkit.PluginCheck} in a jar of its own, runs the filter in a gateway.
 *
 * <p><b>Threads.</b> The gateway calls the methods of this interface on the thread that reads configurations, where they may
 * block. It calls those of the {@link Filter} on event loops, where nothing may block: a filter that must wait answers with
 * {@link Verdict.Wait}. One filter serves the exchanges of all event loops at once.
 *
 * <p><b>Buffers.</b> Who receives a buffer releases it, also if it fails.
 *
 * <p><b>Errors.</b> If a method of this interface throws an exception, the configuration is invalid and the gateway keeps the
 * one that it has. If a filter throws one, its exchange fails with the cause {@code filter_error}, and no other.
 */
public interface FilterPlugin {
    /** Returns the type's name in the configuration: letters and digits, first a capital letter. None of the gateway's own. */
    String type();

    /** Returns what its filters do, in a sentence for the JSON Schema. */
    String description();

    /** Returns the keys of its settings, in the order in which the gateway prints them; none by default. */
    default List<SettingKey<?>> keys() {
        return List.of();
    }

    /** Returns where its filters are among the gateway's own. */
    default FilterPlace place() {
        return FilterPlace.REQUEST;
    }

    /**
     * Whether its filters refuse requests, or ask who sends them. Their routes then also take requests whose path upstreams
     * may read as one of theirs.
     */
    default boolean guards() {
        return false;
    }

    /**
     * Whether its filters may decide by the path, in its normal form. If so, their rules forward no path that an upstream could
     * read otherwise: with {@code normalizePath: false}, the gateway refuses dot segments and repeated slashes.
     */
    default boolean decidesByPath() {
        return true;
    }

    /**
     * Returns the status with which its filters answer every request, so that their rules need no upstream; 0 by default, if
     * requests may continue.
     */
    default int answer() {
        return 0;
    }

    /** Reports what is wrong with settings whose values are right one by one, such as a minimum above its maximum. */
    default void check(Settings settings, SettingErrors errors) {}

    /**
     * Makes the filter of one place in the configuration. Called for each generation, so also after a reload that has changed
     * nothing of the filter. Nobody tells a filter that its generation has ended or was never used, so this method must not
     * start threads or open connections for one filter. What the filters share belongs to the plugin, which {@link #close}
     * ends.
     */
    Filter create(Settings settings);

    /**
     * Ends what the plugin has begun, such as threads. Called once, when no filter of it is called any more, and before the
     * class loader of its jar closes. The plugins that a program brings are the program's own to close.
     */
    default void close() {}
}
