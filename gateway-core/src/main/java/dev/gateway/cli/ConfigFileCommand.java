package dev.gateway.cli;

import dev.gateway.config.GatewayConfig;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** A command about a configuration that is valid, or whose mistakes are all that it prints. */
abstract class ConfigFileCommand implements Callable<Integer> {
    /** Describes {@code --plugins} of commands that look at a configuration: they run no code that nobody has named. */
    static final String PLUGINS = "Directory of plugins, which the command loads and runs to check their filters. "
            + "Default: none, filters of plugins are not checked";

    @Mixin
    private final FileArgument argument = new FileArgument();

    @Option(names = "--plugins", paramLabel = "DIR", description = PLUGINS)
    private @Nullable Path plugins;

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public final Integer call() {
        PrintWriter err = CommandSupport.err(spec);
        Path file = argument.get();
        if (file == null) {
            err.println(argument.problem(spec == null ? "COMMAND" : spec.name()));
            return CommandSupport.USAGE;
        }
        GatewayConfig config = CommandSupport.load(file, plugins, err);
        if (config == null) {
            return CommandSupport.INVALID_CONFIG;
        }
        PrintWriter out = CommandSupport.out(spec);
        print(file, config, out);
        out.flush();
        return CommandSupport.exitCode(config);
    }

    /** Prints the command's output for a valid configuration. */
    abstract void print(Path file, GatewayConfig config, PrintWriter out);

    /** The configuration that a command is about, written as {@code FILE} or as {@code --config FILE}. */
    static final class FileArgument {
        @Parameters(
                arity = "0..1",
                paramLabel = "FILE",
                description = "Configuration file (YAML or JSON), or a directory of *.yaml files.")
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
}
