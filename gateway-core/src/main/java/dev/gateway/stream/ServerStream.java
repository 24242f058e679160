package dev.gateway.stream;

import dev.gateway.message.ResponseHead;
import dev.gateway.overload.memory.Account;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Server stream (downstream side): a request from downstream, to be answered. The response ends it: after its last part no
 * event follows, and what is left of the request body is the adapter's to drain or refuse. A tunnel ends when both
 * directions have.
 */
public interface ServerStream extends Stream {
    /**
     * Sends a response head. Interim heads (1xx) may come first, each with {@code last} false; then exactly one final
     * head. The adapter adds what frames the message, and nothing else.
     *
     * @param last whether no body follows
     */
    void head(ResponseHead head, boolean last);

    /** Whether little enough waits to be sent that a head may be added which the client could do without. */
    default boolean hasRoomForHints() {
        return isWritable();
    }

    /**
     * Whether there is memory for the body of a reply of the gateway's own until the client takes it. If not, the reply can
     * only be sent without it. To be called before the reply's head.
     */
    default boolean hasRoomFor(ByteBuf body) {
        return true;
    }

    /** Returns when the first bytes of the request's head were there, 0 if all of it came at once. */
    default long headNanos() {
        return 0;
    }

    /**
     * Refuses the request in a way of the protocol's own, by which the client knows that nothing was done with it and may
     * send it again.
     *
     * @return false if the protocol has none, so that an answer must say it
     */
    default boolean refuse(Failure failure) {
        return false;
    }

    /**
     * Delays the client's next request: leaves the client alone for a while when the response that follows has ended, so
     * that asking again at once gains it nothing. To be called before the response's head; a protocol whose connections
     * others may share need not do it.
     *
     * @param pause asked once, when it is known whether the connection ends with the response
     */
    default void delayNextRequest(Pause pause) {}

    /**
     * Tells the client that its connection ends after this request, as far as its protocol has words for that. To be called
     * before the response's head.
     *
     * @return whether it did not know yet
     */
    default boolean announceClose() {
        return false;
    }

    /** How long a client is left alone. */
    @FunctionalInterface
    interface Pause {
        /**
         * Returns how many milliseconds it is, 0 for not at all.
         *
         * @param closing whether the connection ends with the response
         */
        long millis(boolean closing);
    }

    /**
     * The request comes from a client that a proxy names. What the stream holds counts for this account from now on, instead of
     * that of the connection, also after its exchange. To be called before anything else.
     */
    default void countFor(Account client) {}

    /**
     * Returns the upstream connections on which the client of this connection logs in. Null if it cannot: streams of one
     * connection would share the login.
     */
    default @Nullable LoginPins logins() {
        return null;
    }

    /** Returns what is known of the connection this request came by. */
    ConnectionInfo connection();
}
