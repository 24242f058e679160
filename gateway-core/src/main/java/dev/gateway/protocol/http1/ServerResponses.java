package dev.gateway.protocol.http1;

import dev.gateway.protocol.http1.RequestInput.State;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ServerStream.Pause;
import dev.gateway.stream.StreamEvents;
import dev.gateway.time.Timer;
import org.jspecify.annotations.Nullable;

/**
 * The responses of a downstream connection, one at a time: has the stream that is being answered, and says what follows when
 * its response has ended. Part of the connection, confined to its event loop.
 */
final class ServerResponses {
    /** From this status on, the response does not depend on the rest of the request. */
    private static final int FIRST_REFUSAL = 300;

    private static final int TOO_LARGE = 413;

    private final Http1ServerConnection connection;
    private final RequestInput input;
    private final ServerOutput output;
    private final ServerClose close;
    private final RefusalDelay delay = new RefusalDelay();
    private @Nullable QuietTimer quiet; // null unless the client has ended its direction amid a response
    private @Nullable Http1ServerStream stream; // the one whose response has not ended

    ServerResponses(Http1ServerConnection connection, RequestInput input, ServerOutput output, ServerClose close) {
        this.connection = connection;
        this.input = input;
        this.output = output;
        this.close = close;
    }

    // ---- the stream that is being answered

    /** Returns the stream that is being answered, null if there is none. */
    @Nullable
    Http1ServerStream stream() {
        return stream;
    }

    /** Returns the events of its exchange, null if there are none. */
    @Nullable
    StreamEvents events() {
        Http1ServerStream open = stream;
        return open == null ? null : open.events();
    }

    boolean isCurrent(OutgoingStream<?> one) {
        return one == stream;
    }

    /** A request is to be answered, a proper one or not. */
    void begin(Http1ServerStream open) {
        stream = open;
    }

    /** All that the channel has read for now was handed on. */
    void onBatchEnd() {
        StreamEvents events = events();
        if (events != null) {
            events.onReadComplete();
        }
        output.flush();
    }

    void onWritable() {
        StreamEvents events = events();
        if (events != null) {
            events.onWritable();
        } else {
            resumeRequests();
        }
    }

    /** The client has ended its direction. */
    void onInputEnded() {
        Http1ServerStream open = stream;
        if (close.onInputEnded(open) && open != null) {
            giveUp(open);
            return;
        }
        boolean isLast = input.state() == State.WAITING && input.isEmpty(); // no other request came before the FIN
        if (open != null && isLast && open.isOfUnknownLength() && !open.isTunnel() && !close.isHalfClose()) {
            QuietTimer made = new QuietTimer();
            quiet = made;
            made.start();
        }
    }

    /** The client wants no answer to its last request. The answers to those before leave whole; what this one has looks cut. */
    private void giveUp(Http1ServerStream open) {
        if (open.endsWithConnection()) {
            output.close();
            return;
        }
        stream = null;
        open.end();
        close.closeAfterWrites();
        input.release();
        open.tellReset(Failure.of(Cause.CLIENT_CLOSED, "the client closed the connection"));
    }

    /**
     * Watches a response of unknown length whose client has ended its direction after it began, such as an event stream whose
     * tab was closed. While bytes are sent, the client may want them all. Once the upstream is quiet, the client is most
     * likely gone.
     */
    private final class QuietTimer extends Timer {
        private static final long QUIET_MILLIS = 1000;
        private static final int LOOKS = 4;

        private long written;
        private int quietLooks;

        void start() {
            written = output.written();
            connection.timers.arm(this, QUIET_MILLIS / LOOKS);
        }

        @Override
        protected void onExpired() {
            long now = output.written();
            // While the client does not take what was sent, the silence may be ours.
            quietLooks = now == written && output.isTaken() ? quietLooks + 1 : 0;
            written = now;
            if (quietLooks == LOOKS) {
                onQuiet();
            } else {
                connection.timers.arm(this, QUIET_MILLIS / LOOKS);
            }
        }
    }

    /** Nothing was written for a second, and nothing waits for the client. */
    private void onQuiet() {
        Http1ServerStream open = stream;
        boolean looksWhole = open != null && open.endsWithConnection();
        closed(Failure.of(Cause.CLIENT_CLOSED, "the client closed the connection, and the upstream was quiet"));
        if (looksWhole) {
            output.abort();
        } else {
            output.close();
        }
    }

    /** The connection is closed, or another handler has the channel: nothing of it happens afterwards. */
    void closed(Failure failure) {
        boolean wasOpen = input.state() != State.CLOSED;
        close.closed();
        delay.cancel();
        if (quiet != null) {
            quiet.cancel();
        }
        Http1ServerStream open = stream;
        stream = null;
        if (open != null && wasOpen) {
            open.end();
            open.tellReset(failure);
        }
    }

    // ---- what the stream does

    /** Whether the connection can take another request after a response that is about to begin. */
    boolean mayPersist(int status, boolean bodiless) {
        // A client that uploads more than is worth dropping would find the connection closed at its next request.
        boolean early = bodiless || status >= FIRST_REFUSAL;
        boolean longUpload =
                (early && input.isTooMuchToDiscard()) || (status == TOO_LARGE && input.state() == State.BODY);
        return close.announcement.mayPersist() && !close.isNoMoreToCome() && !longUpload;
    }

    /** The response that is about to end is a refusal after which the client is to be left alone. */
    void delayAfter(Http1ServerStream refused, Pause pause) {
        if (refused == stream) {
            delay.requested = pause;
        }
    }

    /** The core ends a response that may have begun. The client can use what there is of it, and sees that it is not whole. */
    void cut(OutgoingStream<?> from) {
        if (from == stream && from.isStarted()) {
            output.send();
        }
        reset(from);
    }

    void reset(OutgoingStream<?> from) {
        Http1ServerStream open = stream;
        if (open != null && from == open) {
            stream = null;
            open.end();
            open.setEvents(null);
            input.close();
            if (open.isStarted()) {
                output.abort();
            } else {
                output.close();
            }
        }
    }

    /** The head that opens a tunnel was written. Does nothing before the events of the exchange have been set. */
    void becomeTunnel(Http1ServerStream open) {
        StreamEvents events = open.events();
        if (open == stream && events != null) {
            output.flush();
            stream = null;
            connection.openTunnel(open, events);
        }
    }

    void onSent(OutgoingStream<?> sent) {
        Http1ServerStream from = stream;
        if (from == null || sent != from || from.isTunnel()) {
            return;
        }
        from.setEvents(null);
        stream = null;
        connection.credit.reset();
        // After a refused CONNECT or upgrade, bytes sent in hope of a tunnel are no request.
        boolean closing = !from.isKeepAlive() || (from.mayBecomeTunnel() && !input.isEmpty());
        if (delay.begin(closing)) {
            connection.credit.suspend(true);
        }
        if (closing && delay.isArmed()) {
            output.hold();
        } else if (closing) {
            close.finish();
        } else if (input.state() == State.WAITING) {
            next();
        } else if (input.isTooMuchToDiscard()) {
            close.finish();
        }
    }

    // ---- what follows a response

    /** Both the request and its response have ended: on to the next request. */
    void next() {
        connection.credit.release();
        if (close.announcement.isLastRequest() || close.isNoMoreToCome()) {
            close.finish();
            return;
        }
        input.next();
        if (input.isEmpty()) {
            close.waitForRequest();
        } else {
            connection.process();
        }
    }

    /** Whether another request may be looked at: not while the client reads no answers, or is left alone. */
    boolean takesRequests() {
        return connection.ctx.channel().isWritable() && !delay.isArmed();
    }

    /**
     * Delays what follows a refusal, so that a client does not come back at once. On a connection that stays open the refusal
     * is sent at once, and what the client sends next waits unread. On one that ends, the refusal waits, as the client would
     * come back on a new one.
     */
    private final class RefusalDelay extends Timer {
        private @Nullable Pause requested; // after the response that is about to end
        private boolean refused; // the last response was a refusal

        /** A response has ended, and maybe the connection with it; returns whether the client is left alone now. */
        boolean begin(boolean closing) {
            Pause pause = requested;
            requested = null;
            refused = pause != null;
            long millis = pause == null ? 0 : pause.millis(closing);
            if (millis > 0) {
                connection.timers.arm(this, millis);
            }
            return millis > 0;
        }

        @Override
        protected void onExpired() {
            connection.credit.suspend(false);
            if (output.isHeld()) {
                close.finish();
            } else {
                resumeRequests();
            }
        }
    }

    /** Goes through what waits, if that is a request; else the rest of what the client has begun would never be read. */
    private void resumeRequests() {
        if (input.state() == State.HEAD && !input.isEmpty()) {
            connection.credit.release();
            connection.process();
        }
    }

    /** Whether nothing runs, and the last response was a refusal, or the client is read on only so that it sees it. */
    boolean isRefused() {
        return stream == null && (delay.refused || close.isLingering());
    }
}
