package dev.gateway.filter.auth;

import java.io.IOException;

/**
 * Invalid credentials file: a file of credentials cannot be read. Its message says where and why, and nothing of what the
 * file holds.
 */
public final class AuthFileException extends Exception {
    private static final long serialVersionUID = 1;

    AuthFileException(IOException cause) {
        super(cause.getMessage(), cause);
    }

    AuthFileException(String problem) {
        super(problem);
    }
}
