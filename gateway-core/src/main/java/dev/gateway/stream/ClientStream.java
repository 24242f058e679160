package dev.gateway.stream;

import dev.gateway.message.RequestHead;

/**
 * Client stream (upstream side): a request sent upstream. It ends when both directions have; a response that ends first
 * leaves it to be reset.
 */
public interface ClientStream extends Stream {
    /**
     * Sends the request head, once, before anything else. The adapter adds what frames the message, and nothing else.
     *
     * @param last whether no body follows
     */
    void head(RequestHead head, boolean last);

    /** Whether it has its connection for itself, so that a client may log in on that. */
    default boolean takesLogins() {
        return false;
    }

    /** Returns about how many bytes of heap are held for it, with its connection if it has that for itself. */
    default long heldHeap() {
        return 0;
    }
}
