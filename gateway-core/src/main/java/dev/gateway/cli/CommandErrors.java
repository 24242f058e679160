package dev.gateway.cli;

import dev.gateway.config.yaml.type.Suggestions;
import java.io.PrintWriter;
import java.util.Arrays;
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
        return Suggestions.nearest(
                word, known.stream().filter(each -> each.length() > 2).sorted().toList()); // any letter is near to -c
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
