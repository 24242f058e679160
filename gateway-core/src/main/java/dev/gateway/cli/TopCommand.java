package dev.gateway.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows what a running gateway does, again and again, in the same place of the terminal. */
@Command(
        name = "top",
        mixinStandardHelpOptions = true,
        description = {
            "Shows the activity of a running gateway, refreshed each second, until Ctrl-C.",
            "Follows the size of the terminal. Without a terminal, and with --once, it uses",
            "LINES and COLUMNS if they are exported, else 80 columns and 24 lines."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  gateway top", "  gateway top --config gateway.yaml --interval 5", "  gateway top --once"})
final class TopCommand implements Callable<Integer> {
    private static final String ENTER = "\u001b[?1049h\u001b[?25l"; // another screen, no cursor
    private static final String LEAVE = "\u001b[?25h\u001b[?1049l";
    private static final String HOME = "\u001b[H";
    private static final String END_OF_LINE = "\u001b[K";
    private static final String END_OF_SCREEN = "\u001b[J";

    @Mixin
    private final AdminOptions admin = new AdminOptions();

    @Option(names = "--once", description = "Print one sample without colors, and exit.")
    private boolean once;

    @Option(names = "--interval", paramLabel = "SECONDS", description = "Seconds between refreshes. Default: 1")
    private double interval = 1;

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public Integer call() {
        PrintWriter out = CommandSupport.out(spec);
        PrintWriter err = CommandSupport.err(spec);
        if (!(interval >= 0.1 && interval <= 3600)) {
            err.println("--interval: expected 0.1 to 3600 seconds");
            return CommandSupport.USAGE;
        }
        return admin.use(err, client -> {
            JsonView first = read(client);
            return once ? printOnce(client, first, out) : show(client, first, out);
        });
    }

    private static JsonView read(AdminClient client) throws IOException {
        AdminClient.Answer answer = client.get("/stats?format=json");
        if (answer.status() != 200) {
            throw new IOException(
                    client + ": " + answer.status() + " " + answer.body().strip());
        }
        return JsonView.parse(answer.body());
    }

    private int printOnce(AdminClient client, JsonView first, PrintWriter out)
            throws IOException, InterruptedException {
        sleep();
        Terminal.Size size = Terminal.Size.of(System.getenv());
        TopFrame.of(client.toString(), read(client), first, size.rows(), size.columns())
                .forEach(out::println);
        out.flush();
        return CommandSupport.OK;
    }

    private int show(AdminClient client, JsonView first, PrintWriter out) throws InterruptedException {
        Thread leave = new Thread(() -> {
            out.print(LEAVE);
            out.flush();
        });
        Runtime.getRuntime().addShutdownHook(leave);
        out.print(ENTER);
        JsonView before = null;
        JsonView now = first;
        while (!isGone(out)) {
            Terminal.Size size = Terminal.Size.now();
            paint(out, TopFrame.of(client.toString(), now, before, size.rows(), size.columns()));
            sleep();
            try {
                JsonView next = read(client);
                before = now;
                now = next;
            } catch (IOException | IllegalArgumentException e) {
                paint(out, List.of(String.valueOf(e.getMessage()), "", "trying again; Ctrl-C ends"));
                sleep();
            }
        }
        return CommandSupport.OK;
    }

    /** Whether nobody reads the output any more: the terminal is closed, or the next program of a pipe has ended. */
    private static boolean isGone(PrintWriter out) {
        return out.checkError() || System.out.checkError(); // the writer does not see errors of the stream behind it
    }

    private void sleep() throws InterruptedException {
        Thread.sleep((long) (interval * 1000));
    }

    /** Writes over what was there, so that nothing flickers. */
    private static void paint(PrintWriter out, List<String> lines) {
        StringBuilder screen = new StringBuilder(HOME);
        for (int i = 0; i < lines.size(); i++) {
            screen.append(i == 0 ? "" : "\r\n").append(lines.get(i)).append(END_OF_LINE);
        }
        out.print(screen.append(END_OF_SCREEN));
        out.flush();
    }
}
