package dev.gateway.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/** Runs the gateway's commands in this process, and keeps what they print. */
final class CommandRun {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    /** Runs a command; returns its exit code. */
    int gateway(String... args) {
        CommandLine commandLine = Main.commandLine();
        commandLine.setOut(new PrintWriter(out, true));
        commandLine.setErr(new PrintWriter(err, true));
        return commandLine.execute(args);
    }

    /** Returns what was printed to standard output. */
    String out() {
        return out.toString();
    }

    /** Returns what was printed to standard error. */
    String err() {
        return err.toString();
    }
}
