package dev.gateway.stream;

import dev.gateway.message.ResponseHead;

/**
 * A request from downstream, to be answered. The response ends it: after its last part no event follows, and what is
 * left of the request body is the adapter's to drain or refuse. A tunnel ends when both directions have.
 */
public interface ServerStream extends Stream {
    /**
     * Sends a response head. Interim heads (1xx) may come first, each with {@code last} false; then exactly one final
     * head. The adapter adds what frames the message, and nothing else.
     *
     * @param last whether no body follows
     */
    void head(ResponseHead head, boolean last);

    /** Returns when the first bytes of the request's head were there, 0 if all of it came at once. */
    default long headNanos() {
        return 0;
    }

    /** Returns what is known of the connection this request came by. */
    ConnectionInfo connection();
}
