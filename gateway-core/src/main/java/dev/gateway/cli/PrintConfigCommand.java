package dev.gateway.cli;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.yaml.ConfigPrinter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Prints a configuration with every default. */
@Command(
        name = "print-config",
        mixinStandardHelpOptions = true,
        description = {
            "Prints a configuration with every default.",
            "Variables are resolved, but values of text that hold one are masked, as secrets are."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  gateway print-config gateway.yaml", "  TIER=gold gateway print-config gateway.yaml"})
final class PrintConfigCommand implements Callable<Integer> {
    @Mixin
    private final FileArgument argument = new FileArgument();

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        Path file = argument.get();
        if (file == null) {
            CommandSupport.err(spec).println(FileArgument.MISSING);
            return CommandSupport.USAGE;
        }
        GatewayConfig config = CommandSupport.load(file, CommandSupport.err(spec));
        if (config == null) {
            return CommandSupport.INVALID_CONFIG;
        }
        CommandSupport.out(spec).print(ConfigPrinter.yaml(config));
        CommandSupport.out(spec).flush();
        return CommandSupport.OK;
    }
}
