package dev.gateway.cli;

import java.io.PrintWriter;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * What a command prints that cannot be run, or that fails: two or three lines about a wrong command line, where picocli
 * would print the whole help over them, and one about an error in the gateway itself.
 */
final class CommandErrors {
    private static final int MAX_DISTANCE = 2; // of a word that was meant

    private CommandErrors() {}

    /** Runs the command; words that picocli does not know are an error, also with --help. */
    static int execute(ParseResult parsed) {
        List<String> unmatched = parsed.unmatched();
        if (!parsed.hasSubcommand() && !unmatched.isEmpty()) {
            throw new UnmatchedArgumentException(parsed.commandSpec().commandLine(), unmatched);
        }
        return new CommandLine.RunLast().execute(parsed);
    }

    /** Reports what is wrong with a command line; returns the exit code. */
    static int usage(ParameterException error, String[] args) {
        CommandLine command = error.getCommandLine();
        PrintWriter err = command.getErr();
        err.println(error.getMessage());
        String meant = error instanceof UnmatchedArgumentException unmatched ? meant(command, unmatched) : null;
        if (meant != null) {
            err.println("Did you mean '" + meant + "'?");
        }
        err.println("Try '" + command.getCommandSpec().qualifiedName() + " --help'.");
        return CommandSupport.USAGE;
    }

    private static @Nullable String meant(CommandLine command, UnmatchedArgumentException error) {
        String word = error.getUnmatched().get(0);
        List<String> known = word.startsWith("-")
                ? List.copyOf(command.getCommandSpec().optionsMap().keySet())
                : List.copyOf(command.getSubcommands().keySet());
        return known.stream()
                .filter(each -> distance(word, each) <= Math.min(MAX_DISTANCE, word.length() - 1))
                .min(Comparator.comparingInt((String each) -> distance(word, each))
                        .thenComparing(Comparator.naturalOrder()))
                .orElse(null);
    }

    /** Returns how many letters must be changed, added or left out to make one word of another. */
    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[b.length()];
    }

    /**
     * Reports an error in the gateway itself in one line; the log has its stack trace at level debug. Returns the exit
     * code.
     */
    static int internal(Throwable failure, PrintWriter err) {
        CommandSupport.tell("an error in the gateway itself ended it: " + describe(failure), err);
        LoggerFactory.getLogger(CommandErrors.class).debug("Ended", failure);
        return CommandSupport.INTERNAL_ERROR;
    }

    private static String describe(Throwable failure) {
        Throwable first = failure;
        for (int i = 0; i < 10 && first.getCause() != null; i++) {
            first = first.getCause();
        }
        String where = Arrays.stream(first.getStackTrace())
                .filter(frame -> frame.getClassName().startsWith("dev.gateway."))
                .findFirst()
                .map(frame -> " at " + frame)
                .orElse("");
        return first.toString().lines().findFirst().orElse("") + where;
    }
}
