package dev.gateway.cli;

import java.io.PrintWriter;
import java.util.Arrays;
import org.slf4j.LoggerFactory;

/** Tells in one line of an error in the gateway itself; the log has its stack trace at level debug. */
final class InternalErrors {
    private InternalErrors() {}

    /** Reports it; returns the exit code. */
    static int tell(Throwable failure, PrintWriter err) {
        CommandSupport.tell("an error in the gateway itself ended it: " + describe(failure), err);
        LoggerFactory.getLogger(InternalErrors.class).debug("Ended", failure);
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
