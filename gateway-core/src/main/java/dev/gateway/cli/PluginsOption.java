package dev.gateway.cli;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The directory of plugins, for commands that read a configuration. */
final class PluginsOption {
    @Option(
            names = "--plugins",
            paramLabel = "DIR",
            description = "Directory of plugins. Default: plugins beside the configuration, if it exists")
    private @Nullable Path directory;

    /** Takes the option's value of a command line that is written plainly; returns whether it can be one. */
    boolean accept(String value) {
        directory = Path.of(value);
        return !value.isEmpty();
    }

    /** Returns the directory that was named, or null. */
    @Nullable
    Path get() {
        return directory;
    }
}
