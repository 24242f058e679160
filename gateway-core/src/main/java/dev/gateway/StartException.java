package dev.gateway;

/** The gateway cannot start; the message says in one line what to change. */
public final class StartException extends Exception {
    private static final long serialVersionUID = 1L;

    StartException(String message, Throwable cause) {
        super(message, cause);
    }
}
