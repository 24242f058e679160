package dev.gateway.cli;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Prints the statistics of a running gateway. */
@Command(
        name = "stats",
        mixinStandardHelpOptions = true,
        description = "Prints the statistics of a running gateway once.",
        footerHeading = "%nExamples:%n",
        footer = {"  gateway stats", "  gateway stats --admin 10.0.0.7:9901 --json"})
final class StatsCommand implements Callable<Integer> {
    @Mixin
    private final AdminOptions admin = new AdminOptions();

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        return admin.print(
                "/stats?format=" + (json ? "json" : "text"), CommandSupport.out(spec), CommandSupport.err(spec));
    }
}
