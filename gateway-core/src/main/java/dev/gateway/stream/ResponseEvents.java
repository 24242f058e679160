package dev.gateway.stream;

import dev.gateway.message.ResponseHead;

/** Response events: what an upstream did to a request's stream. */
public interface ResponseEvents extends StreamEvents {
    /**
     * A response head arrived; interim heads (1xx) come first, each with {@code last} false.
     *
     * @param last whether no body follows
     */
    void onHead(ResponseHead head, boolean last);

    /**
     * Checks or other requests have found that the endpoint does not answer. The stream is still open.
     *
     * @param why what was found
     */
    default void onUnresponsive(String why) {}
}
