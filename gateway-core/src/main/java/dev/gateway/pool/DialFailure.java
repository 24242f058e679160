package dev.gateway.pool;

import dev.gateway.net.FailureText;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;

/** Failures to get a connection, and what is said of them. */
final class DialFailure {
    private DialFailure() {}

    /** Returns a failure to get a connection: another attempt may be made, unless it would meet the same refusal. */
    static Failure of(Cause cause, String detail) {
        return Failure.of(cause, cause == Cause.POLICY_ADDRESS ? RetrySafety.NEVER : RetrySafety.ALWAYS, detail);
    }

    /** Returns the innermost reason, which is the one that tells something, in one line. */
    static String describe(Throwable failure) {
        Throwable innermost = failure;
        while (innermost.getCause() != null) {
            innermost = innermost.getCause();
        }
        return FailureText.of(innermost);
    }
}
