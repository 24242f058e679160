package dev.gateway.upstream.pool;

import dev.gateway.net.FailureText;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import io.netty.handler.ssl.NotSslRecordException;
import java.net.UnknownHostException;

/** Failures to get a connection, and their descriptions. */
final class DialFailure {
    private DialFailure() {}

    /** Returns a failure to get a connection. A retry is safe, unless the address policy would refuse it again. */
    static Failure of(Cause cause, String detail) {
        return Failure.of(cause, cause == Cause.POLICY_ADDRESS ? RetrySafety.NEVER : RetrySafety.ALWAYS, detail);
    }

    /** Returns the failure of a handshake for a name: the request's alone, so that no other endpoint is asked. */
    static Failure ofName(Failure failure, String name) {
        return Failure.of(failure.cause(), RetrySafety.NEVER, failure.detail() + " (server name " + name + ")");
    }

    /** Whether it says something about the endpoint: no shortage of the gateway, and not the request's own. */
    static boolean isOfEndpoint(Failure failure) {
        return failure.cause() != Cause.OVERLOAD && failure.retry() != RetrySafety.NEVER;
    }

    /** Returns the message of the innermost cause, or of the resolver, in one line. */
    static String describe(Throwable failure) {
        Throwable innermost = failure;
        while (innermost.getCause() != null
                && !(innermost instanceof UnknownHostException)) { // the resolver's message says all
            innermost = innermost.getCause();
        }
        if (innermost instanceof NotSslRecordException) { // its message is all that has come, as a hexadecimal number
            return "an answer without TLS; the endpoint may need no 'tls'";
        }
        return FailureText.of(innermost);
    }
}
