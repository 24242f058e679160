package dev.gateway.runtime;

import dev.gateway.config.LoadResult;
import dev.gateway.config.yaml.ConfigLoader;
import dev.gateway.files.FileWatch;
import java.nio.file.Path;
import java.util.List;

/**
 * Configuration file: the file that a gateway's configuration comes from. A change is noticed from the last time on that it
 * was loaded. Used by one thread at a time: first the one that starts the gateway, then the gateway's.
 */
public final class ConfigFile {
    private final Path path;
    private final FileWatch watch;
    private final boolean ofProcess;

    /** Names the file, which is not read yet. */
    public ConfigFile(Path path) {
        this(path, false);
    }

    private ConfigFile(Path path, boolean ofProcess) {
        this.path = path;
        this.watch = new FileWatch(List.of(path));
        this.ofProcess = ofProcess;
    }

    /** Names the file of a gateway in a process of its own, which has an admin listener unless the file says no. */
    public static ConfigFile ofProcess(Path path) {
        return new ConfigFile(path, true);
    }

    /** Reads the file. */
    public LoadResult load() {
        watch.reading();
        LoadResult result = ConfigLoader.load(path);
        return ofProcess && result instanceof LoadResult.Valid valid
                ? new LoadResult.Valid(valid.config().withAdmin(), valid.problems())
                : result;
    }

    /** Looks at the file, and returns whether it has changed since it was loaded and not since the last look. */
    boolean hasSettled() {
        return watch.hasSettled();
    }

    @Override
    public String toString() {
        return path.toString();
    }
}
