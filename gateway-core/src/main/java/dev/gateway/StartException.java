package dev.gateway;

/** The gateway cannot start, or cannot go over to another configuration; the message says in one line what to change. */
public final class StartException extends Exception {
    private static final long serialVersionUID = 1L;

    StartException(String message) {
        super(message);
    }

    StartException(String message, Throwable cause) {
        super(message, cause);
    }
}
