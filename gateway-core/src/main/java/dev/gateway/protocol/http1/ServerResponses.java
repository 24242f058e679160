package dev.gateway.protocol.http1;

import dev.gateway.protocol.http1.RequestInput.State;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
import org.jspecify.annotations.Nullable;

/**
 * The responses of a downstream connection, one at a time: has the stream that is being answered, and says what follows when
 * its response has ended. Part of the connection, confined to its event loop.
 */
final class ServerResponses implements ServerOutput.Owner, QuietResponse.Owner {
    private static final int FIRST_REFUSAL =
            300; // from here on, the response does not depend on the rest of the request
    private static final int TOO_LARGE = 413;

    final ServerOutput output;
    final ServerClose close;
    private final Http1ServerConnection carrier;
    private final RequestInput input;
    private final ServerTunnel tunnel;
    private final RefusalDelay delay;
    private final ClientFin fin;
    private @Nullable QuietResponse quiet; // null unless the client has ended its direction amid a response
    private @Nullable Http1ServerStream stream; // the one whose response has not ended

    ServerResponses(
            Http1ServerConnection carrier,
            Http1ServerSettings settings,
            RequestInput input,
            ClientTimeouts timeouts,
            ClientFin fin,
            ServerTunnel tunnel) {
        this.carrier = carrier;
        this.input = input;
        this.tunnel = tunnel;
        this.delay = new RefusalDelay(this::onRefusalDelayed, carrier.timers);
        this.fin = fin;
        this.output = new ServerOutput(
                this,
                carrier.ctx,
                carrier.batch,
                carrier.timers,
                settings.timeouts().responseWriteIdleMillis());
        this.close = new ServerClose(carrier, input, output, timeouts, fin, settings.minBodyRate());
    }

    // ---- the stream that is being answered

    /** Returns the stream that is being answered, null if there is none. */
    @Nullable
    Http1ServerStream stream() {
        return stream;
    }

    /** Returns who is told what its client does, null if nobody is. */
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

    @Override
    public void onClientNotReading(Failure failure) {
        closed(failure);
        output.abort();
    }

    @Override
    public ConnectionInfo info() {
        return carrier.info();
    }

    @Override
    public boolean isAnswering() {
        return stream != null;
    }

    /** The client has ended its direction. */
    void onInputEnded() {
        Http1ServerStream open = stream;
        if (close.onInputEnded(open) && open != null) {
            giveUp(open);
            return;
        }
        boolean isLast = input.state() == State.WAITING && input.isEmpty(); // no other request came before the FIN
        if (open != null && isLast && open.isOfUnknownLength() && !open.isTunnel() && !fin.isHalfClose()) {
            QuietResponse made = new QuietResponse(this, carrier.timers);
            quiet = made;
            made.start();
        }
    }

    @Override
    public long written() {
        return output.written();
    }

    @Override
    public boolean isTaken() {
        return output.isTaken();
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

    @Override
    public void onQuiet() {
        Http1ServerStream open = stream;
        boolean looksWhole = open != null && open.endsWithConnection();
        closed(Failure.of(Cause.CLIENT_CLOSED, "the client closed the connection, and the upstream was quiet"));
        if (looksWhole) {
            output.abort();
        } else {
            output.close();
        }
    }

    /** The connection is closed, or somebody else has it: nothing of it happens afterwards. */
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
    void delayAfter(Http1ServerStream refused, ServerStream.Pause pause) {
        if (refused == stream) {
            delay.request(pause);
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

    /** The head that opens a tunnel was written. Does nothing until it is known who is told what the client does. */
    void becomeTunnel(Http1ServerStream open) {
        StreamEvents events = open.events();
        if (open == stream && events != null) {
            output.flush();
            stream = null;
            tunnel.open(carrier, open, events, input.takeOver());
        }
    }

    void onSent(OutgoingStream<?> sent) {
        Http1ServerStream from = stream;
        if (from == null || sent != from || from.isTunnel()) {
            return;
        }
        from.setEvents(null);
        stream = null;
        carrier.credit.reset();
        // After a refused CONNECT or upgrade, bytes sent in hope of a tunnel are no request.
        boolean closing = !from.isKeepAlive() || (from.mayBecomeTunnel() && !input.isEmpty());
        if (delay.begin(closing)) {
            carrier.credit.suspend(true);
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
        carrier.credit.release();
        if (close.announcement.isLastRequest() || close.isNoMoreToCome()) {
            close.finish();
            return;
        }
        input.next();
        if (input.isEmpty()) {
            close.waitForRequest();
        } else {
            input.process();
        }
    }

    /** Whether another request may be looked at: not while the client reads no answers, or is left alone. */
    boolean takesRequests() {
        return carrier.ctx.channel().isWritable() && !delay.isArmed();
    }

    private void onRefusalDelayed() {
        carrier.credit.suspend(false);
        if (output.isHeld()) {
            close.finish();
        } else {
            resumeRequests();
        }
    }

    /** Goes through what waits, if that is a request; else the rest of what the client has begun would never be read. */
    private void resumeRequests() {
        if (input.state() == State.HEAD && !input.isEmpty()) {
            carrier.credit.release();
            input.process();
        }
    }

    /** Whether nothing runs, and the last response was a refusal, or the client is read on only so that it sees it. */
    boolean isRefused() {
        return stream == null && (delay.followsRefusal() || close.isLingering());
    }

    // ---- ending from our side

    /** Takes no further request, closes if nothing runs, and else tells what runs. */
    void drain() {
        if (close.announcement.drain()) {
            close.hurry();
            close.closeIfIdle();
            tellDraining();
        }
    }

    /** The exchange has the request. If the connection drains, the exchange has to know. */
    void onRequestTold() {
        if (close.announcement.isDraining()) {
            tellDraining();
        }
    }

    private void tellDraining() {
        StreamEvents events = events();
        if (tunnel.exists()) {
            tunnel.drain();
        } else if (events != null) {
            events.onDraining();
        }
    }
}
