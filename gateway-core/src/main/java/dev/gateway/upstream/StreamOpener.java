package dev.gateway.upstream;

import dev.gateway.stream.ClientStream;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
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
     * @param preamble what is told ahead of a tunnel, null for requests
     * @param events who is told what the upstream does on the stream
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
         * The endpoint that was asked for has no room now, and another of the upstream is asked instead; maybe again and
         * again before the answer.
         */
        default void onMoved(Endpoint to) {}

        /**
         * A connection was made while this waited for one; {@link #onOpened} follows.
         *
         * @param nanos from when the connection was begun, maybe for somebody else, name resolution included
         */
        default void onDialed(long nanos) {}

        /**
         * The stream is there and takes its head now.
         *
         * @param peer what its connection was made to
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

        /** Gives it up because its time is over, which an endpoint that is being connected to has to answer for. */
        default void expire() {
            cancel();
        }
    }
}
