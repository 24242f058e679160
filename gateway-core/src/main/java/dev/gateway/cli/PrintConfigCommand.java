package dev.gateway.cli;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.yaml.ConfigPrinter;
import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine.Command;

/** Prints a configuration with all defaults. */
@Command(
        name = "print-config",
        mixinStandardHelpOptions = true,
        description = {
            "Prints a configuration with all defaults.",
            "It replaces environment variables. It masks secrets, and texts that contain a variable."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  gateway print-config gateway.yaml", "  TIER=gold gateway print-config gateway.yaml"})
final class PrintConfigCommand extends ConfigFileCommand {
    @Override
    void print(Path file, GatewayConfig config, PrintWriter out) {
        out.print(ConfigPrinter.yaml(config));
    }
}
