package dev.gateway.cli;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The directory of plugins, for commands that look at a configuration: they run no code that nobody has named. */
final class LoadedPlugins {
    @Option(
            names = "--plugins",
            paramLabel = "DIR",
            description = "Directory of plugins, which the command loads and runs to check their filters. "
                    + "Default: none, filters of plugins are not checked")
    private @Nullable Path directory;

    /** Returns the directory that was named, or null. */
    @Nullable
    Path get() {
        return directory;
    }
}
