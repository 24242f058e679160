package dev.gateway.filter;

import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;

/**
 * Body transform: turns a body into another one, piece by piece. It serves one exchange in one direction, and runs on the
 * event loop of the exchange. The exchange takes each piece when the receiver has room, so a transform keeps no output, even
 * if one byte becomes very many. Input that the transform has not read gives the sender no credit, so it is bounded, too.
 */
public interface BodyTransform {
    /** What follows the input of a call. */
    enum Input {
        /** More bytes follow. */
        CONTINUES,
        /** More bytes may come much later. The transform must pass on everything that it has read (a flush). */
        PAUSES,
        /** The body ends with this input. */
        ENDS
    }

    /** The result of a call. */
    sealed interface Result permits More, Piece, Fail {}

    /** The transform has read all input, and has no output before it gets more. At the end of the input: it has ended. */
    record More() implements Result {}

    /**
     * A piece of the new body. The same input may give more pieces.
     *
     * @param data owned by the receiver; empty only if it is the last piece; about 16 KiB at most, which bounds the bytes
     *     that wait for a slow receiver
     * @param last whether this is the last piece, possible only when the input has ended
     */
    record Piece(ByteBuf data, boolean last) implements Result {}

    /** The exchange fails. */
    record Fail(Failure failure) implements Result {}

    /** The only instance that is needed. */
    Result MORE = new More();

    /**
     * Reads input and returns the next piece. The exchange calls it until it returns {@link More} or the last piece.
     *
     * @param in the input, with the reader index at the first unread byte; the caller keeps ownership
     */
    Result transform(ByteBuf in, Input input);

    /** Releases what the transform holds, such as native memory. Called once, also if the body has not ended. */
    void close();
}
