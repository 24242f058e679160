package dev.gateway.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
}
