package dev.gateway.config;

import dev.gateway.config.value.Position;

/** Validation problem (error or warning): something that an operator should change in a configuration. */
public record Problem(Position position, Severity severity, String message) {
    /** Whether the configuration can be used. */
    public enum Severity {
        ERROR,
        WARNING
    }

    /** Returns {@code file:line:col: message}, with {@code warning:} before the message of a warning. */
    @Override
    public String toString() {
        return position + ": " + (severity == Severity.WARNING ? "warning: " : "") + message;
    }
}
