package dev.gateway.cli;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Ansi;

/** What the process writes to. */
final class Terminal {
    /** Whether a person reads standard error, and likes colors ({@code NO_COLOR} is honored). */
    static final boolean STDERR_IS_COLORED = Ansi.AUTO.enabled() && stderrIsTerminal();

    private Terminal() {}

    /** The JDK reports only on standard input and output, and standard error is often redirected. */
    private static boolean stderrIsTerminal() {
        Path link = Path.of("/proc/self/fd/2");
        if (!Files.exists(link)) {
            return true; // no Linux: believe what is known of standard output
        }
        try {
            String target = Files.readSymbolicLink(link).toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
        } catch (IOException e) {
            return false; // not known, and plain text is always right
        }
    }

    /**
     * How many lines and columns a terminal shows. The JDK does not tell, and shells do not export LINES and COLUMNS, so the
     * program {@code stty} of POSIX is asked.
     */
    record Size(int rows, int columns) {
        private static final Pattern ANSWER = Pattern.compile("(\\d{1,4}) (\\d{1,4})\\s*");
        private static final int LEAST = 2;
        private static final int PATIENCE_SECONDS = 1;

        /** Returns what the terminal of this process shows now; without one, what the environment says. Takes some ms. */
        static Size now() throws InterruptedException {
            Size answer = parse(ask());
            return answer == null ? of(System.getenv()) : answer;
        }

        /** Returns what LINES and COLUMNS say, 24 and 80 where they do not. */
        static Size of(Map<String, String> environment) {
            return new Size(number(environment.get("LINES"), 24), number(environment.get("COLUMNS"), 80));
        }

        private static int number(@Nullable String value, int usual) {
            return value != null && value.matches("[0-9]{2,4}") ? Math.max(10, Integer.parseInt(value)) : usual;
        }

        /** Returns what {@code stty size} answered; null if it does not know, as of a terminal whose size nobody has set. */
        static @Nullable Size parse(String answer) {
            Matcher matcher = ANSWER.matcher(answer);
            if (!matcher.matches()) {
                return null;
            }
            int rows = Integer.parseInt(matcher.group(1));
            int columns = Integer.parseInt(matcher.group(2));
            return rows == 0 || columns == 0 ? null : new Size(Math.max(LEAST, rows), Math.max(LEAST, columns));
        }

        private static String ask() throws InterruptedException {
            try {
                Process stty = new ProcessBuilder("stty", "size")
                        .redirectInput(new File("/dev/tty"))
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
                try {
                    return stty.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)
                            ? new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII)
                            : "";
                } finally {
                    stty.destroyForcibly();
                }
            } catch (IOException e) {
                return ""; // this process has no terminal, or the system no stty
            }
        }
    }
}
