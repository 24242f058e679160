package dev.gateway;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Asks the admin listener of a gateway on this host whether it is ready, for images without a shell.
 */
@Command(
        name = "healthcheck",
        mixinStandardHelpOptions = true,
        description = {
            "Asks a running gateway whether it is ready: exit code 0 if so, else 1.",
            "For the HEALTHCHECK of an image; the gateway needs an admin listener."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  gateway healthcheck", "  gateway healthcheck --url http://127.0.0.1:9901/live"})
final class HealthcheckCommand implements Callable<Integer> {
    static final int UNHEALTHY = 1;

    private static final String DEFAULT_URL = "http://127.0.0.1:9901/ready";
    private static final int TIMEOUT_MILLIS = 2_000;

    @Option(
            names = "--url",
            paramLabel = "URL",
            defaultValue = DEFAULT_URL,
            description = "A page of the admin listener. Default: ${DEFAULT-VALUE}")
    private String url = DEFAULT_URL;

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
        PrintWriter err = Main.err(spec);
        try {
            String answer = ask(URI.create(url));
            if (answer.startsWith("200 ")) {
                return Main.OK;
            }
            err.println(url + ": " + answer);
        } catch (IOException | IllegalArgumentException e) {
            err.println(url + ": " + e.getMessage());
        }
        return UNHEALTHY;
    }

    /** Returns status and body in one line. */
    private static String ask(URI page) throws IOException {
        if (!"http".equals(page.getScheme()) || page.getHost() == null) {
            throw new IllegalArgumentException("expected a URL such as " + DEFAULT_URL);
        }
        AdminClient.Answer answer = new AdminClient(page, TIMEOUT_MILLIS, null)
                .get(page.getRawPath().isEmpty() ? "/" : page.getRawPath());
        return answer.status() + " " + answer.body().strip();
    }
}
