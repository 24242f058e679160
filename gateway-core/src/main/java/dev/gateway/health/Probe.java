package dev.gateway.health;

import dev.gateway.message.Fields;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ClientStream;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.stream.ResponseEvents;
import dev.gateway.time.Timer;
import dev.gateway.upstream.StreamOpener;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Asks an endpoint one question, until its answer is complete or has failed. Its owner is told how it ended unless it gives
 * it up before. Confined to its event loop.
 */
final class Probe extends Timer implements StreamOpener.Callback, ResponseEvents {
    /** More of an answer is not waited for. */
    private static final int MOST_BYTES = 1 << 20;

    private static final Failure GIVEN_UP = Failure.of(Cause.CLIENT_CLOSED, "the check is over");

    private final Owner owner;
    private final Question question;
    private StreamOpener.@Nullable Opening opening;
    private @Nullable ClientStream stream;
    private State state = State.OPENING;
    private int received;

    /** How far it has come. */
    private enum State {
        /** It waits for a stream. */
        OPENING,
        /** It was given up before its stream was there; the opening is cancelled, or its stream reset. */
        ABANDONED,
        /** It waits for the end of an answer. */
        OPEN,
        /** Nothing of it counts any more. */
        OVER
    }

    /** Who asks; told once, on the same event loop. */
    interface Owner {
        /**
         * The endpoint answered.
         *
         * @param failure why it is not well, null if it is
         */
        void onAnswered(@Nullable String failure);

        /** There will be no answer. */
        void onFailed(Failure failure);

        /** There is no answer in time. */
        void onTimeout();
    }

    Probe(Owner owner, Question question) {
        this.owner = owner;
        this.question = question;
    }

    /** Keeps what can be cancelled, if it has not been answered yet. */
    void began(StreamOpener.Opening begun) {
        if (state == State.OPENING) {
            opening = begun;
        } else if (state == State.ABANDONED) {
            begun.cancel();
        }
    }

    boolean hasStream() {
        return stream != null;
    }

    /** Gives it up, at once; its owner is told nothing. Does nothing if it is over. */
    void abandon() {
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
        owner.onAnswered(question.failure());
    }

    private void fail(Failure failure) {
        if (!isOver()) {
            state = State.OVER;
            cancel();
            owner.onFailed(failure);
        }
    }

    @Override
    protected void onExpired() {
        if (!isOver()) {
            abandon();
            owner.onTimeout();
        }
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
