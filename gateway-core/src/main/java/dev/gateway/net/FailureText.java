package dev.gateway.net;

import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;

/**
 * Error messages of the operating system: says what failed in the words of the operating system, without those of Netty
 * around them.
 */
public final class FailureText {
    private static final String CALL = "(..) failed with error(";

    private FailureText() {}

    /** Returns a failure's message, or its kind if it has none, in one line. */
    public static String of(Throwable failure) {
        String message = failure.getMessage();
        Throwable cause = failure.getCause();
        if (cause != null && cause.toString().equals(message)) { // the name of a class says nothing to operators
            return of(cause);
        }
        String text = message == null ? failure.getClass().getSimpleName() : validity(failure) + plain(message);
        return text.replace('\n', ' ').replace('\r', ' ');
    }

    /** Java's own message has the date alone. */
    private static String validity(Throwable failure) {
        if (failure instanceof CertificateExpiredException) {
            return "its certificate has expired: ";
        }
        return failure instanceof CertificateNotYetValidException ? "its certificate is not valid yet: " : "";
    }

    /** {@code finishConnect(..) failed with error(-111): Connection refused} is {@code Connection refused}. */
    private static String plain(String message) {
        int call = message.indexOf(CALL);
        int end = call < 0 ? -1 : message.indexOf("): ", call);
        return end < 0
                ? message
                : message.substring(0, message.lastIndexOf(' ', call) + 1) + message.substring(end + 3);
    }
}
