package dev.gateway.cli;

import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Finds every mistake in a configuration. */
@Command(
        name = "validate",
        mixinStandardHelpOptions = true,
        description = {
            "Finds every mistake in a configuration.",
            "Each is a line on standard error: file:line:col: message. Starts nothing."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  gateway validate gateway.yaml", "  gateway validate gateway.yaml && systemctl reload gateway"})
final class ValidateCommand implements Callable<Integer> {
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
        if (CommandSupport.load(file, CommandSupport.err(spec)) == null) {
            return CommandSupport.INVALID_CONFIG;
        }
        CommandSupport.out(spec).println(file + " is valid");
        return CommandSupport.OK;
    }
}
