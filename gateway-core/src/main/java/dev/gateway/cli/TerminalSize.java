package dev.gateway.cli;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How many lines and columns a terminal shows. The JDK does not tell, and shells do not export LINES and COLUMNS, so the
 * program {@code stty} of POSIX is asked.
 */
record TerminalSize(int rows, int columns) {
    private static final Pattern ANSWER = Pattern.compile("(\\d{1,4}) (\\d{1,4})\\s*");
    private static final int LEAST = 2;
    private static final int PATIENCE_SECONDS = 1;

    /** Returns what the terminal of this process shows now; without one, what the environment says. Takes some ms. */
    static TerminalSize now() throws InterruptedException {
        TerminalSize answer = parse(ask());
        return answer == null ? of(System.getenv()) : answer;
    }

    /** Returns what LINES and COLUMNS say, 24 and 80 where they do not. */
    static TerminalSize of(Map<String, String> environment) {
        return new TerminalSize(number(environment.get("LINES"), 24), number(environment.get("COLUMNS"), 80));
    }

    private static int number(@Nullable String value, int usual) {
        return value != null && value.matches("[0-9]{2,4}") ? Math.max(10, Integer.parseInt(value)) : usual;
    }

    /** Returns what {@code stty size} answered; null if it does not know, as of a terminal whose size nobody has set. */
    static @Nullable TerminalSize parse(String answer) {
        Matcher matcher = ANSWER.matcher(answer);
        if (!matcher.matches()) {
            return null;
        }
        int rows = Integer.parseInt(matcher.group(1));
        int columns = Integer.parseInt(matcher.group(2));
        return rows == 0 || columns == 0 ? null : new TerminalSize(Math.max(LEAST, rows), Math.max(LEAST, columns));
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
