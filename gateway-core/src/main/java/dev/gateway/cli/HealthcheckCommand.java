package dev.gateway.cli;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Asks the admin listener of a gateway on this host whether it is ready, as an image does by {@link Healthcheck} alone.
 */
@Command(
        name = "healthcheck",
        mixinStandardHelpOptions = true,
        description = {
            "Checks whether a running gateway is ready: exit code 0 if it is, else 1.",
            "For container images and scripts. It queries the admin listener."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  gateway healthcheck", "  gateway healthcheck --url http://127.0.0.1:9901/live"})
final class HealthcheckCommand implements Callable<Integer> {
    @Option(
            names = "--url",
            paramLabel = "URL",
            defaultValue = Healthcheck.DEFAULT_URL,
            description = "URL of a page of the admin listener, or unix:FILE. Default: ${DEFAULT-VALUE}")
    private String url = Healthcheck.DEFAULT_URL;

    @Spec
    private @Nullable CommandSpec spec;

    /** Returns the command if it is written plainly, else null. */
    static @Nullable HealthcheckCommand plain(String[] args) {
        HealthcheckCommand command = new HealthcheckCommand();
        if (args.length == 3 && args[1].equals("--url")) {
            command.url = args[2];
        } else if (args.length != 1) {
            return null;
        }
        return command;
    }

    @Override
    public Integer call() {
        String complaint = Healthcheck.complaint(url);
        if (complaint.isEmpty()) {
            return Healthcheck.HEALTHY;
        }
        CommandSupport.err(spec).println(url + ": " + complaint);
        return Healthcheck.UNHEALTHY;
    }
}
