package dev.gateway.runtime;

import dev.gateway.config.LoadResult;
import dev.gateway.config.Problem;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.files.FileWatch;
import dev.gateway.filter.FilterPlugin;
import dev.gateway.runtime.plugins.PluginSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Configuration file: the file that a gateway's configuration comes from, with those that it includes, or a directory of
 * files. A change is noticed from the last time on that they were loaded. Used by one thread at a time: first the one that
 * starts the gateway, then the gateway's.
 */
public final class ConfigFile {
    /** How often files are read one after the other that change while they are read. */
    private static final int MOST_READS = 3;

    private final Path path;
    private final boolean ofProcess;
    private final PluginSource plugins;
    private FileWatch watch;
    private List<Path> forbidden = List.of(); // when it was last loaded
    private List<Problem> warnings = List.of(); // of the last configuration that was valid
    private String news = ""; // why the last look has found that the files are to be loaded

    /**
     * Names the file or directory, and reads it to find the files that belong to it: blocks. A change is noticed from now on, so a
     * program that loads the configuration by itself makes this first.
     */
    public ConfigFile(Path path) {
        this(path, List.of());
    }

    /**
     * Names the file or directory, as {@link #ConfigFile(Path)}, and the filter types that the program brings for it.
     *
     * @throws IllegalArgumentException if a plugin declares what cannot be, or two have one name
     */
    public ConfigFile(Path path, List<? extends FilterPlugin> plugins) {
        this(path, false, PluginSource.of(plugins), ConfigLoader.watch(path));
    }

    private ConfigFile(Path path, boolean ofProcess, PluginSource plugins, FileWatch watch) {
        this.plugins = plugins;
        this.path = path;
        this.watch = watch;
        this.ofProcess = ofProcess;
    }

    /**
     * Names the file or directory of a gateway in a process of its own, which loads it. The gateway has an admin listener
     * unless the file says no, and the filters of plugins.
     *
     * @param plugins the directory of plugins, null for the one beside the file, if there is one
     */
    public static ConfigFile ofProcess(Path path, @Nullable Path plugins) {
        return new ConfigFile(path, true, PluginSource.directory(plugins, path), new FileWatch(List.of()));
    }

    /**
     * Reads the files, and first the plugins. If files change meanwhile, some may have been read before that and others after
     * it, so all of them are read again. What still changes then is left to the next look.
     */
    public LoadResult load() {
        LoadResult result = read();
        for (int reads = 1; reads < MOST_READS && watch.hasChanged(); reads++) {
            result = read();
        }
        forbidden = watch.forbidden();
        if (result instanceof LoadResult.Valid valid) {
            warnings = valid.problems();
            return ofProcess ? new LoadResult.Valid(valid.config().withAdmin(), warnings) : valid;
        }
        return result;
    }

    private LoadResult read() {
        watch.reading();
        FileWatch next = new FileWatch(List.of());
        LoadResult result = plugins.load(path, next);
        if (!next.isEmpty()) { // else plugins have failed, and no file was read
            watch = next;
        }
        return result;
    }

    /** Returns the warnings of the last configuration that was valid. */
    List<Problem> warnings() {
        return warnings;
    }

    /**
     * Looks at the files, and returns whether they have changed since they were loaded and not since the last look. After a
     * load that failed because of a plugin, also looks at the jars; after one that was not permitted, whether it is now.
     */
    boolean hasSettled() {
        boolean plugin = plugins.hasSettledSinceFailure();
        boolean settled = watch.hasSettled();
        List<Path> changed = settled ? watch.changed() : List.of();
        List<Path> permitted = forbidden.stream().filter(Files::isReadable).toList(); // else they look the same
        if (!changed.isEmpty()) {
            news = several(changed, " has changed", " have changed");
        } else if (!permitted.isEmpty()) {
            news = several(permitted, " may be read now", " may be read now");
        } else {
            news = plugin ? "plugins have changed" : "trying again to read " + path;
        }
        return settled || plugin || !permitted.isEmpty();
    }

    private static String several(List<Path> files, String one, String more) {
        return files.size() == 1 ? files.get(0) + one : files.get(0) + " and " + (files.size() - 1) + " more" + more;
    }

    /** Returns why the last look has found that the files are to be loaded, in a sentence. */
    String news() {
        return news;
    }

    /** Frees the plugins that no generation uses; a second call has no effect. */
    public void close() {
        plugins.close();
    }

    @Override
    public String toString() {
        return path.toString();
    }
}
