package dev.gateway.exchange.body;

import dev.gateway.filter.BodyTransform;
import dev.gateway.filter.BodyTransform.Fail;
import dev.gateway.filter.BodyTransform.Input;
import dev.gateway.filter.BodyTransform.Piece;
import dev.gateway.filter.BodyTransform.Result;
import dev.gateway.message.Fields;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The body of one direction on its way through a {@link BodyTransform}. Takes a piece from the transform whenever the
 * receiver has room for it. Input that the transform has not read waits here and gives the source no credit, which bounds it.
 * Owns the waiting input and the transform until the body has ended or {@link #close}.
 */
public final class TransformedBody {
    private static final Logger log = LoggerFactory.getLogger(TransformedBody.class);

    private final BodyTransform transform;
    private final Output output;
    private final BodyContext exchange;
    private final ArrayDeque<ByteBuf> waiting = new ArrayDeque<>(4);
    private final StalledBody stalled;
    private long held; // bytes of memory of the waiting buffers
    private @Nullable Fields trailers; // end the body; null if none have come
    private boolean inputEnded;
    private boolean fresh; // the transform has read bytes since the last pause of the source
    private boolean paused; // the transform must pass on everything that it has read
    private boolean unfinished; // the transform may have more output from bytes that it has read
    private boolean overfull; // the last piece went to a receiver without room
    private boolean running;
    private boolean transforming;
    private boolean closed;

    /** The receiver of the new body. */
    public interface Output {
        /** Whether it takes anything now. */
        boolean mayPass();

        /** Whether it has room for a piece. */
        boolean hasRoom();

        /**
         * Takes a piece and its ownership.
         *
         * @param from number of bytes of the source that the transform has read for it
         */
        void pass(ByteBuf data, boolean last, int from);

        /** Takes the trailers, which end the body. */
        void passTrailers(Fields trailers);

        /** The transform has read this number of bytes of the source without output. */
        void taken(int bytes);
    }

    /**
     * Creates the state of a body that has not begun.
     *
     * @param exchange, which fails if the transform does, or if direct memory runs low while bytes wait here
     */
    public TransformedBody(BodyTransform transform, Output output, BodyContext exchange) {
        this.transform = transform;
        this.output = output;
        this.exchange = exchange;
        this.stalled = new StalledBody(
                exchange, () -> held, "direct memory ran low while a transformed body waited for its receiver");
    }

    /** Takes bytes of the source and the ownership of the buffer. */
    public void add(ByteBuf data, boolean last) {
        if (closed) {
            data.release();
            return;
        }
        inputEnded |= last;
        if (data.isReadable()) {
            waiting.add(data);
            held += data.capacity();
        } else {
            data.release();
        }
        run();
    }

    /** The source's body ends with trailers. A second call has no effect. */
    public void end(Fields fields) {
        trailers = fields;
        inputEnded = true;
        run();
    }

    /** The source pauses: the receiver must get everything that has been read. */
    public void pause() {
        if (!inputEnded && (fresh || !waiting.isEmpty())) {
            paused = true;
            run();
        }
    }

    /**
     * Passes on pieces while the receiver has room. Called again when it has room again.
     *
     * @return whether it passed on something, which the caller must flush
     */
    public boolean run() {
        if (running) {
            return false; // called from inside the loop below, where nothing may be flushed
        }
        running = true;
        boolean any = false;
        try {
            while (!closed && output.mayPass() && (output.hasRoom() || mayEnd()) && step()) {
                any = true;
            }
        } catch (RuntimeException | OutOfMemoryError e) {
            close();
            exchange.onDefect(e);
        } finally {
            running = false;
        }
        if (waiting.isEmpty()) {
            stalled.resume();
        } else {
            stalled.stall();
        }
        stalled.charge(held);
        return any;
    }

    /**
     * Whether the transform may be called although the receiver has no room: it has read everything, and perhaps only the end
     * is left. A receiver may wait for the end before it makes room. One piece at most goes without room.
     */
    private boolean mayEnd() {
        return inputEnded && waiting.isEmpty() && !overfull;
    }

    /** Calls the transform once. Returns whether another call may do more. */
    private boolean step() {
        ByteBuf first = waiting.peek();
        Input input = waiting.size() > 1
                ? Input.CONTINUES
                : inputEnded ? Input.ENDS : paused ? Input.PAUSES : Input.CONTINUES;
        if (first == null && input == Input.CONTINUES && !unfinished) {
            return false;
        }
        ByteBuf in = first == null ? Unpooled.EMPTY_BUFFER : first;
        int before = in.readableBytes();
        Result result = transform(in, input);
        if (closed) {
            if (result instanceof Piece piece) {
                piece.data().release();
            }
            return false;
        }
        int read = before - in.readableBytes();
        fresh |= read > 0;
        boolean all = !in.isReadable();
        if (first != null && all) {
            waiting.remove();
            held -= first.capacity();
            first.release();
        }
        unfinished = result instanceof Piece;
        if (result instanceof Piece piece) {
            pass(piece, read);
        } else if (result instanceof Fail fail) {
            close();
            exchange.fail(fail.failure());
        } else if (!all) {
            throw new IllegalStateException("a transform asks for more input before it has read all");
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

    /** Calls the transform, which may end the exchange: then this frees what it uses when it has returned. */
    private Result transform(ByteBuf in, Input input) {
        transforming = true;
        try {
            return transform.transform(in, input);
        } finally {
            transforming = false;
            if (closed) {
                free();
            }
        }
    }

    private void pass(Piece piece, int read) {
        if (!piece.last()) {
            overfull = !output.hasRoom();
            output.pass(piece.data(), false, read);
        } else if (inputEnded && waiting.isEmpty()) {
            finish(piece.data(), read);
        } else {
            piece.data().release();
            throw new IllegalStateException("a transform ended the body before the input ended");
        }
    }

    /** Closes first: the output checks {@link #isDone} when it gets the last piece. */
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

    /** Whether bytes of the source wait for room, here or inside the transform. */
    public boolean isStalled() {
        return !waiting.isEmpty() || unfinished;
    }

    /** Whether the source has sent everything. */
    public boolean isReceived() {
        return inputEnded;
    }

    /** Whether the receiver has got everything. */
    public boolean isDone() {
        return closed;
    }

    /** Ends the body: the receiver gets nothing more. */
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        unfinished = false;
        if (!transforming) {
            free();
        }
    }

    private void free() {
        for (ByteBuf data = waiting.poll(); data != null; data = waiting.poll()) {
            data.release();
        }
        held = 0;
        stalled.resume();
        stalled.charge(0);
        try {
            transform.close();
        } catch (RuntimeException e) {
            log.error("Closing a transform of a body", e); // the exchange ends all the same
        }
    }
}
