package dev.gateway.net;

import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;

/**
 * Error messages of the operating system: says what failed in the words of the operating system, without those of Netty
 * around them.
 */
public final class FailureText {
    private static final String CALL = "(..) failed with error(";
    private static final String NO_TRACE = " (no stack trace available)";
    private static final String QUESTION = "DefaultDnsQuestion(";

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
        String text = message.replace(NO_TRACE, "");
        int call = text.indexOf(CALL);
        int end = call < 0 ? -1 : text.indexOf("): ", call);
        if (end > 0) {
            text = text.substring(0, text.lastIndexOf(' ', call) + 1) + text.substring(end + 3);
        }
        return question(text);
    }

    /** {@code DefaultDnsQuestion(a.lab. IN A) query '1' via UDP failed} is {@code DNS query (a.lab. IN A) via UDP failed}. */
    private static String question(String text) {
        int start = text.indexOf(QUESTION);
        int end = start < 0 ? -1 : text.indexOf(')', start);
        if (end < 0) {
            return text;
        }
        String name = text.substring(start + QUESTION.length(), end);
        String rest = text.substring(end + 1);
        int number = rest.indexOf("query '");
        int numberEnd = number < 0 ? -1 : rest.indexOf("' ", number);
        if (numberEnd > 0) {
            rest = rest.substring(0, number) + rest.substring(numberEnd + 2);
        }
        return text.substring(0, start) + "DNS query (" + name + ')' + rest;
    }
}
