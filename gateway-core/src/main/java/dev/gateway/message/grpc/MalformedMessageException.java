package dev.gateway.message.grpc;

/** Malformed message: an answer has no message, or one that cannot be read. Its text continues "answered". */
public final class MalformedMessageException extends Exception {
    private static final long serialVersionUID = 1;

    static final String BROKEN = "with a broken message";

    /** Makes it without a stack trace: a peer may cause many. */
    public MalformedMessageException(String message) {
        super(message, null, false, false);
    }
}
