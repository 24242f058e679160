package dev.gateway.upstream.health;

import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.time.Timer;
import dev.gateway.upstream.stream.StreamOpener;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * One request of the gateway's own to an endpoint, such as a health check: sends a {@link Question}, and reports the complete
 * answer or the failure to its listener, unless that abandons it before. The listener arms it for the time that the answer may
 * take. Confined to its event loop.
 */
public final class Probe extends Timer implements StreamOpener.Callback, ResponseEvents {
    /** It does not wait for more bytes of an answer than these. */
    public static final int MOST_BYTES = 1 << 20;

    private static final Failure GIVEN_UP = Failure.of(Cause.CLIENT_CLOSED, "the check is over");

    private final Listener listener;
    private final Question question;
    private StreamOpener.@Nullable Opening opening;
    private @Nullable ClientStream stream;
    private State state = State.OPENING;
    private int received;

    /** The states of a check. */
    private enum State {
        /** It waits for a stream. */
        OPENING,
        /** It was abandoned before it had a stream; the opening is cancelled, or its stream will be reset. */
        ABANDONED,
        /** It waits for the end of the answer. */
        OPEN,
        /** It is over; later events have no effect. */
        OVER
    }

    /** The maker of the check; called once, on the same event loop. */
    public interface Listener {
        /**
         * The endpoint has answered.
         *
         * @param failure what is wrong with the answer, null if nothing is
         */
        void onAnswered(@Nullable String failure);

        /** There will be no answer. */
        void onFailed(Failure failure);

        /** There was no answer in time. */
        void onTimeout();
    }

    /** Makes one; {@link StreamOpener#open} gets it as events and as callback. */
    public Probe(Listener listener, Question question) {
        this.listener = listener;
        this.question = question;
    }

    /** Sets the opening, which can be cancelled until it is answered. */
    public void began(StreamOpener.Opening begun) {
        if (state == State.OPENING) {
            opening = begun;
        } else if (state == State.ABANDONED) {
            begun.cancel();
        }
    }

    /** Whether it has a stream, so that its question was sent. */
    public boolean hasStream() {
        return stream != null;
    }

    /** Cancels it at once, without a report to the listener. Does nothing if it is over. */
    public void abandon() {
        if (isOver()) {
            return;
        }
        cancel();
        if (state == State.OPENING) {
            state = State.ABANDONED;
            if (opening != null) {
                opening.cancel();
            }
        } else {
            state = State.OVER;
            if (stream != null) {
                stream.reset(GIVEN_UP);
            }
        }
    }

    private boolean isOver() {
        return state == State.ABANDONED || state == State.OVER;
    }

    private void end() {
        state = State.OVER;
        cancel();
        listener.onAnswered(question.failure());
    }

    private void fail(Failure failure) {
        if (!isOver()) {
            state = State.OVER;
            cancel();
            listener.onFailed(failure);
        }
    }

    @Override
    protected void onExpired() {
        if (!isOver()) {
            abandon();
            listener.onTimeout();
        }
    }

    @Override
    public @Nullable String serverName() {
        return question.serverName();
    }

    @Override
    public void onOpened(ClientStream opened, DialedPeer hop) {
        stream = opened;
        if (state == State.ABANDONED) {
            state = State.OVER;
            opened.reset(GIVEN_UP);
            return;
        }
        state = State.OPEN;
        question.send(opened);
    }

    @Override
    public void onOpenFailed(Failure failure) {
        if (state == State.ABANDONED) {
            state = State.OVER;
        } else {
            fail(failure);
        }
    }

    @Override
    public void onHead(ResponseHead response, boolean last) {
        if (!isOver() && !response.isInterim()) {
            question.onHead(response);
            if (last) {
                end();
            }
        }
    }

    @Override
    public void onData(ByteBuf data, boolean last) {
        int bytes = data.readableBytes();
        if (!isOver()) {
            question.onData(data);
        }
        data.release();
        if (isOver() || stream == null) {
            return;
        }
        received += bytes;
        stream.consumed(bytes);
        if (!last && received > MOST_BYTES) {
            stream.reset(GIVEN_UP);
        }
        if (last || received > MOST_BYTES) {
            end();
        }
    }

    @Override
    public void onTrailers(Fields trailers) {
        if (!isOver()) {
            question.onTrailers(trailers);
            end();
        }
    }

    @Override
    public void onWritable() {}

    @Override
    public void onReadComplete() {}

    @Override
    public void onReset(Failure failure) {
        fail(failure);
    }
}
