package dev.gateway.pool;

import dev.gateway.net.FailureText;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import io.netty.handler.ssl.NotSslRecordException;

/** Failures to get a connection, and their descriptions. */
final class DialFailure {
    private DialFailure() {}

    /** Returns a failure to get a connection. A retry is safe, unless the address policy would refuse it again. */
    static Failure of(Cause cause, String detail) {
        return Failure.of(cause, cause == Cause.POLICY_ADDRESS ? RetrySafety.NEVER : RetrySafety.ALWAYS, detail);
    }

    /** Returns the message of the innermost cause, which is usually the most useful one, in one line. */
    static String describe(Throwable failure) {
        Throwable innermost = failure;
        while (innermost.getCause() != null) {
            innermost = innermost.getCause();
        }
        if (innermost instanceof NotSslRecordException) { // its message is all that has come, as a hexadecimal number
            return "an answer without TLS; the endpoint may need no 'tls'";
        }
        return FailureText.of(innermost);
    }
}
