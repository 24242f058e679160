package dev.gateway.cli;

import dev.gateway.config.GatewayConfig;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** A command about a configuration that is valid, or whose mistakes are all that it prints. */
abstract class ConfigFileCommand implements Callable<Integer> {
    @Mixin
    private final FileArgument argument = new FileArgument();

    @Mixin
    private final LoadedPlugins plugins = new LoadedPlugins();

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
        GatewayConfig config = CommandSupport.load(file, plugins.get(), err);
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
}
