package dev.gateway.upstream.stream;

import dev.gateway.overload.memory.Account;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.LoginPins;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.dial.UpstreamSettings;
import org.jspecify.annotations.Nullable;

/**
 * Stream opener (connection pool): opens streams to endpoints, on kept connections or new ones, from one event loop. Called
 * on that loop only.
 */
public interface StreamOpener {
    /**
     * Opens a stream on a kept connection, or makes one. The callback gets exactly one answer, maybe before this method
     * returns, unless the opening is cancelled first.
     *
     * @param preamble what to tell the endpoint before a tunnel's first byte, null for requests
     * @param events gets what the upstream does on the stream
     */
    Opening open(
            Upstream upstream,
            Endpoint endpoint,
            StreamKind kind,
            @Nullable ClientPreamble preamble,
            ResponseEvents events,
            Callback callback);

    /** Takes the answer to {@link #open}. */
    interface Callback {
        /**
         * Returns whose request it is: equal for all requests of one client. Clients take turns if requests must wait. All that
         * the gateway asks for itself counts as one client.
         */
        default Object client() {
            return StreamOpener.class;
        }

        /** Returns the account that is charged for what may outlast the request, such as a lookup of its host. */
        default Account account() {
            return Account.UNLIMITED;
        }

        /** Returns the upstream connections on which the client logs in; null if it cannot do so. */
        default @Nullable LoginPins logins() {
            return null;
        }

        /**
         * The chosen endpoint has no room now, and the opening goes to another endpoint of the upstream. This may happen
         * several times before the answer.
         */
        default void onMoved(Endpoint to) {}

        /**
         * Whether the request was at this endpoint before. The opening goes there only if no other endpoint has room.
         */
        default boolean isTried(Endpoint endpoint) {
            return false;
        }

        /**
         * Returns the name that TLS asks for and verifies, if {@link UpstreamSettings#followsHost}; null for that of the
         * endpoint.
         */
        default @Nullable String serverName() {
            return null;
        }

        /**
         * Whether the opening may be at an ejected endpoint, which is better than none. Others move to an endpoint in
         * service.
         */
        default boolean takesEjected() {
            return false;
        }

        /**
         * A connection was made while this opening waited for one; {@link #onOpened} follows.
         *
         * @param nanos how long making it took, name resolution included. It may have begun for another opening
         */
        default void onDialed(long nanos) {}

        /**
         * The stream is open, and must get its head now.
         *
         * @param peer the peer of its connection
         */
        void onOpened(ClientStream stream, DialedPeer peer);

        /** No stream could be opened; nothing was sent. */
        void onOpenFailed(Failure failure);
    }

    /** An opening that has not been answered. */
    interface Opening {
        /** An opening that was answered before {@link StreamOpener#open} returned: nothing to cancel. */
        Opening DONE = () -> {};

        /** Gives it up: the callback gets no answer any more. Does nothing after the answer. */
        void cancel();

        /**
         * Gives it up because its time is over. If it waited for a connection attempt, that counts as the endpoint's
         * failure.
         */
        default void expire() {
            cancel();
        }
    }
}
