package dev.gateway.cli;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Prints versions. */
@Command(
        name = "version",
        mixinStandardHelpOptions = true,
        description = "Prints the versions of the gateway, the JVM and the libraries.",
        footerHeading = "%nExample:%n",
        footer = "  gateway version")
final class VersionCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        for (String line : new Versions().getVersion()) {
            CommandSupport.out(spec).println(line);
        }
        return CommandSupport.OK;
    }
}
