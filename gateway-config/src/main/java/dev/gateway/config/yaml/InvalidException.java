package dev.gateway.config.yaml;

/** Says why a text does not stand for a value; caught where the text's position is known. */
final class InvalidException extends Exception {
    private static final long serialVersionUID = 1L;

    InvalidException(String message) {
        super(message);
    }
}
