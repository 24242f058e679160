package dev.gateway.exchange;

import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.BodyTransform.Fail;
import dev.gateway.filter.BodyTransform.Input;
import dev.gateway.filter.BodyTransform.Piece;
import dev.gateway.filter.BodyTransform.Result;
import dev.gateway.message.Fields;
import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One direction's body on its way through a {@link BodyTransform}: takes pieces from it as long as there is room for one.
 * What the transform has not read waits here without credit: the source's credit bounds it. Owns what waits, and the
 * transform, until the body has ended or {@link #close}.
 */
final class TransformedBody {
    private static final Logger log = LoggerFactory.getLogger(TransformedBody.class);

    private final BodyTransform transform;
    private final Output output;
    private final ArrayDeque<ByteBuf> waiting = new ArrayDeque<>(4);
    private final StalledBody stalled;
    private long bytes; // that wait
    private @Nullable Fields trailers; // that end the body
    private boolean inputEnded;
    private boolean fresh; // some was read since the source paused last
    private boolean paused; // the receiver is to have all that was read
    private boolean unsaid; // the transform may have more to say of what it has read
    private boolean running;
    private boolean closed;

    /** Where the body goes. */
    interface Output {
        /** Whether a piece may be passed on now. */
        boolean hasRoom();

        /**
         * Passes a piece on, and owns it.
         *
         * @param from how many bytes of the source were read for it
         */
        void pass(ByteBuf data, boolean last, int from);

        /** Ends the body with trailers. */
        void passTrailers(Fields trailers);

        /** So many bytes of the source were read, and have become nothing yet. */
        void taken(int bytes);

        /** The transform cannot continue. */
        void fail(Failure failure);

        /** The transform threw. */
        void onDefect(Throwable defect);
    }

    /**
     * Makes one that nothing has come for.
     *
     * @param owner the exchange, which may fail for what waits
     */
    TransformedBody(BodyTransform transform, Output output, StalledBody.Owner owner) {
        this.transform = transform;
        this.output = output;
        this.stalled =
                new StalledBody(owner, () -> bytes, "direct memory ran low, and what a body became was not taken");
    }

    /** Takes bytes of the source, and owns the buffer. */
    void add(ByteBuf data, boolean last) {
        if (closed) {
            data.release();
            return;
        }
        inputEnded |= last;
        if (data.isReadable()) {
            waiting.add(data);
            bytes += data.readableBytes();
        } else {
            data.release();
        }
        run();
    }

    /** The source's body ends with trailers; saying so again changes nothing. */
    void end(Fields fields) {
        trailers = fields;
        inputEnded = true;
        run();
    }

    /** More may come much later: the receiver is to have what there is. */
    void pause() {
        if (!inputEnded && (fresh || !waiting.isEmpty())) {
            paused = true;
            run();
        }
    }

    /**
     * Passes on what there is room for; to be called when there is room again.
     *
     * @return whether that was something, which is to be flushed
     */
    boolean run() {
        if (running) {
            return false; // a receiver has room again inside of a call below, in whose midst nothing may be flushed
        }
        running = true;
        boolean any = false;
        try {
            while (!closed && output.hasRoom() && step()) {
                any = true;
            }
        } catch (RuntimeException e) {
            close();
            output.onDefect(e);
        } finally {
            running = false;
        }
        if (waiting.isEmpty()) {
            stalled.resume();
        } else {
            stalled.stall();
        }
        return any;
    }

    /** Returns whether there may be more to do. */
    private boolean step() {
        ByteBuf first = waiting.peek();
        Input input = waiting.size() > 1
                ? Input.CONTINUES
                : inputEnded ? Input.ENDS : paused ? Input.PAUSES : Input.CONTINUES;
        if (first == null && input == Input.CONTINUES && !unsaid) {
            return false;
        }
        ByteBuf in = first == null ? Unpooled.EMPTY_BUFFER : first;
        int before = in.readableBytes();
        Result result = transform.transform(in, input);
        int read = before - in.readableBytes();
        bytes -= read;
        fresh |= read > 0;
        boolean all = !in.isReadable();
        if (first != null && all) {
            waiting.remove();
            first.release();
        }
        unsaid = result instanceof Piece;
        if (result instanceof Piece piece) {
            pass(piece, read);
        } else if (result instanceof Fail fail) {
            close();
            output.fail(fail.failure());
        } else if (!all) {
            throw new IllegalStateException("a transform wants more, and has not read all of its input");
        } else {
            if (input == Input.PAUSES) {
                paused = false;
                fresh = false;
            }
            output.taken(read);
            if (input == Input.ENDS && !closed) {
                finish(Unpooled.EMPTY_BUFFER, 0);
            }
        }
        return true;
    }

    private void pass(Piece piece, int read) {
        if (!piece.last()) {
            output.pass(piece.data(), false, read);
        } else if (inputEnded && waiting.isEmpty()) {
            finish(piece.data(), read);
        } else {
            piece.data().release();
            throw new IllegalStateException("a transform has ended before its input");
        }
    }

    /** The output asks whether the body has ended when it gets the last of it, so closing comes first. */
    private void finish(ByteBuf data, int read) {
        Fields fields = trailers;
        close();
        if (fields == null) {
            output.pass(data, true, read);
            return;
        }
        if (data.isReadable()) {
            output.pass(data, false, read);
        } else {
            data.release();
            output.taken(read);
        }
        output.passTrailers(fields);
    }

    /** Whether some of the source's bytes wait for room. */
    boolean isStalled() {
        return !waiting.isEmpty();
    }

    /** Whether all has come that the source sends. */
    boolean isReceived() {
        return inputEnded;
    }

    /** Whether all has been passed on. */
    boolean isDone() {
        return closed;
    }

    /** Nothing more is passed on. */
    void close() {
        if (closed) {
            return;
        }
        closed = true;
        for (ByteBuf data = waiting.poll(); data != null; data = waiting.poll()) {
            data.release();
        }
        bytes = 0;
        stalled.resume();
        try {
            transform.close();
        } catch (RuntimeException e) {
            log.error("Closing a transform of a body", e); // the exchange ends all the same
        }
    }
}
