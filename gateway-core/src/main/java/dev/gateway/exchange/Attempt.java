package dev.gateway.exchange;

import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.upstream.ClientPreamble;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.StreamKind;
import dev.gateway.upstream.StreamOpener;
import dev.gateway.upstream.Upstream;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * One try of an exchange at an endpoint: an opening, then a stream. Once it is over, whatever still comes of it is
 * dropped here, so that the exchange only hears of its current attempt.
 */
final class Attempt implements ResponseEvents, StreamOpener.Callback {
    private final Attempts attempts;
    private final Response response;
    private StreamOpener.@Nullable Opening opening;
    private @Nullable ClientStream stream;
    private boolean answered; // the opening was: there is nothing to cancel
    private boolean over;

    Attempt(Attempts attempts, Response response) {
        this.attempts = attempts;
        this.response = response;
    }

    void open(
            StreamOpener opener,
            Upstream upstream,
            Endpoint endpoint,
            StreamKind demand,
            @Nullable ClientPreamble preamble) {
        StreamOpener.Opening begun = opener.open(upstream, endpoint, demand, preamble, this, this);
        if (answered) {
            return;
        }
        if (over) {
            begun.cancel(); // given up inside the call, before there was an opening to cancel
        } else {
            opening = begun;
        }
    }

    /** Whether the stream was opened inside the call that asked for it. */
    boolean isOpenedAtOnce() {
        return stream != null && opening == null;
    }

    boolean isOver() {
        return over;
    }

    /** It went well: nothing is left to undo. */
    void finish() {
        over = true;
    }

    /** Gives it up, at once; does nothing if it is over. */
    void abandon(Failure failure) {
        if (over) {
            return;
        }
        over = true;
        if (stream != null) {
            stream.reset(failure);
        } else if (opening != null && !answered) {
            if (failure.cause() == Cause.UPSTREAM_TIMEOUT) {
                opening.expire();
            } else {
                opening.cancel();
            }
        }
    }

    @Override
    public void onMoved(Endpoint to) {
        if (!over) {
            attempts.onMoved(to);
        }
    }

    @Override
    public void onDialed(long nanos) {
        if (!over) {
            attempts.onDialed(nanos);
        }
    }

    @Override
    public void onOpened(ClientStream opened, DialedPeer hop) {
        answered = true;
        stream = opened;
        if (over) {
            opened.reset(Exchange.ABANDONED);
        } else {
            attempts.onOpened(this, opened, hop);
        }
    }

    @Override
    public void onOpenFailed(Failure failure) {
        answered = true;
        if (!over) {
            over = true;
            attempts.onFailed(failure);
        }
    }

    @Override
    public void onHead(ResponseHead head, boolean last) {
        if (!over) {
            attempts.onHead(head, last);
        }
    }

    @Override
    public void onData(ByteBuf data, boolean last) {
        if (over) {
            data.release();
        } else {
            response.onData(data, last);
        }
    }

    @Override
    public void onTrailers(Fields trailers) {
        if (!over) {
            attempts.onTrailers(trailers);
        }
    }

    @Override
    public void onWritable() {
        if (!over) {
            attempts.onWritable();
        }
    }

    @Override
    public void onReadComplete() {
        response.flush();
    }

    @Override
    public void onReset(Failure failure) {
        if (!over) {
            over = true;
            attempts.onFailed(failure);
        }
    }
}
