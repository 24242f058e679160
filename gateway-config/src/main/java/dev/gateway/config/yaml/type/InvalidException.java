package dev.gateway.config.yaml.type;

/** Invalid value: says why a text does not stand for a value; caught where the text's position is known. */
public final class InvalidException extends Exception {
    private static final long serialVersionUID = 1L;
    private static final String EXPECTED = "expected ";
    private static final String FOUND = ", not '";

    private final boolean showsNothing;

    /** Makes it of what is wrong, in words that follow the name of the key. */
    public InvalidException(String message) {
        this(message, false);
    }

    private InvalidException(String message, boolean showsNothing) {
        super(message);
        this.showsNothing = showsNothing;
    }

    /** Makes one whose message has nothing of the text. */
    static InvalidException withoutValue(String message) {
        return new InvalidException(message, true);
    }

    /** Returns what can be said without showing anything of the text: what was expected, if the message begins so. */
    String withoutValue() {
        String message = String.valueOf(getMessage());
        if (showsNothing) {
            return message;
        }
        int found = message.indexOf(FOUND);
        return message.startsWith(EXPECTED) && found > 0 ? message.substring(0, found) : "not a value for this key";
    }
}
