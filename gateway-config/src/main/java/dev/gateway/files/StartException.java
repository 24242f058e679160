package dev.gateway.files;

import java.util.List;
import java.util.stream.Collectors;

/**
 * Startup failure: the gateway cannot start, or cannot go over to another configuration; the message says in one line what
 * to change.
 */
public final class StartException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Makes it of what the operator has to know. */
    public StartException(String message) {
        super(message);
    }

    /** Makes it of what the operator has to know, and of what led to it. */
    public StartException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Returns why a start fails, with the place in the file that it comes from. */
    public static StartException at(Object place, Exception cause) {
        return new StartException(place + ": " + FileFault.message(cause), cause);
    }

    /** Throws one exception for all of several, if there are any, so that they can be mended at once. */
    public static void throwAll(List<StartException> failures) throws StartException {
        if (failures.size() == 1) {
            throw failures.get(0);
        }
        if (!failures.isEmpty()) {
            StartException all = new StartException(
                    failures.stream().map(Throwable::getMessage).collect(Collectors.joining("; ")));
            failures.forEach(all::addSuppressed);
            throw all;
        }
    }
}
