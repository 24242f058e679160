package dev.gateway.cli;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The configuration that a command is about, written as {@code FILE} or as {@code --config FILE}. */
final class FileArgument {
    @Parameters(arity = "0..1", paramLabel = "FILE", description = "Configuration file (YAML).")
    private @Nullable Path file;

    @Option(
            names = {"-c", "--config"},
            paramLabel = "FILE",
            description = "Same as FILE.")
    private @Nullable Path option;

    /** Makes the argument for the parser to fill. */
    FileArgument() {}

    /** Makes the argument of a file. */
    FileArgument(Path file) {
        this.file = file;
    }

    /** Returns what is wrong if there is not one file. */
    String problem(String command) {
        return file != null && option != null
                ? "two configuration files: write either FILE or --config FILE"
                : "no configuration file: write 'gateway " + command + " FILE'";
    }

    /** Returns the file, or null if none was named, or two. */
    @Nullable
    Path get() {
        if (file != null && option != null) {
            return null;
        }
        return file != null ? file : option;
    }
}
