package dev.gateway;

import java.io.IOException;
import java.io.PrintWriter;
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
        description = "Prints the statistics of a running gateway, once.",
        footerHeading = "%nExamples:%n",
        footer = {"  gateway stats", "  gateway stats --admin 10.0.0.7:9901 --json"})
final class StatsCommand implements Callable<Integer> {
    @Mixin
    private final AdminOptions admin = new AdminOptions();

    @Option(names = "--json", description = "JSON output.")
    private boolean json;

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        return print(admin, "/stats?format=" + (json ? "json" : "text"), Main.out(spec), Main.err(spec));
    }

    /** Prints a page, or why there is none. */
    static int print(AdminOptions options, String page, PrintWriter out, PrintWriter err) {
        try {
            AdminClient client = options.client(err);
            if (client == null) {
                return Main.INVALID_CONFIG;
            }
            AdminClient.Answer answer = client.get(page);
            boolean good = answer.status() == 200;
            (good ? out : err).print(answer.body());
            (good ? out : err).flush();
            if (answer.status() == 401) {
                err.println("Name the file that has it by --token-file FILE, or the configuration by --config FILE.");
            }
            return good ? Main.OK : Main.UNAVAILABLE;
        } catch (IOException e) {
            err.println(e.getMessage());
            return Main.UNAVAILABLE;
        } catch (IllegalArgumentException e) {
            err.println(e.getMessage());
            return Main.USAGE;
        }
    }
}
