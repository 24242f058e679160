package dev.gateway.stream;

import dev.gateway.message.ResponseHead;
import org.jspecify.annotations.Nullable;

/** Response events: what an upstream did to a request's stream. */
public interface ResponseEvents extends StreamEvents {
    /**
     * A response head arrived; interim heads (1xx) come first, each with {@code last} false.
     *
     * @param last whether no body follows
     */
    void onHead(ResponseHead head, boolean last);

    /** Returns the client's connection, which is charged for what the upstream does not take; null for none. */
    default @Nullable ConnectionInfo clientConnection() {
        return null;
    }

    /**
     * Checks or other requests have found that the endpoint does not answer. The stream is still open.
     *
     * @param why what was found
     */
    default void onUnresponsive(String why) {}
}
