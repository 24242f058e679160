package dev.gateway.cli;

import dev.gateway.config.GatewayConfig;
import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine.Command;

/** Finds every mistake in a configuration. */
@Command(
        name = "validate",
        mixinStandardHelpOptions = true,
        description = {
            "Finds every mistake in a configuration.",
            "Prints a line for each to standard error: file:line:col: message. Starts nothing.",
            "Without --plugins it does not check filters of plugins. If there are any, the exit code is 4."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  gateway validate gateway.yaml", "  gateway validate gateway.yaml && systemctl reload gateway"})
final class ValidateCommand extends ConfigFileCommand {
    @Override
    void print(Path file, GatewayConfig config, PrintWriter out) {
        out.println(file + (config.hasUncheckedFilters() ? " is valid, except for what was not checked" : " is valid"));
    }
}
