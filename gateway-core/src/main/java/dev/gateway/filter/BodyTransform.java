package dev.gateway.filter;

import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;

/**
 * Body transform: makes another body of one that passes, piece by piece. Of one exchange and one direction; called on its
 * event loop. The exchange takes each piece when the receiver has room, so a transform keeps no output, however much one
 * byte becomes. What it has not read waits, and gets no credit, so that is bounded too.
 */
public interface BodyTransform {
    /** What follows the bytes that a transform is given. */
    enum Input {
        /** More will come. */
        CONTINUES,
        /** More may come much later: the receiver is to have all that was read so far. */
        PAUSES,
        /** Nothing: the body ends with them. */
        ENDS
    }

    /** What a transform has come to. */
    sealed interface Result permits More, Piece, Fail {}

    /** It has read all that it was given, and has nothing to pass on until there is more. At the end: it has ended. */
    record More() implements Result {}

    /**
     * A piece of what the body becomes; more may follow of the same bytes.
     *
     * @param data owned by the receiver; not empty unless it is the last, and of a size that bounds what waits for a
     *     receiver: some 16 KiB
     * @param last whether nothing follows, which only the end of the input can bring
     */
    record Piece(ByteBuf data, boolean last) implements Result {}

    /** The exchange fails. */
    record Fail(Failure failure) implements Result {}

    /** The one of its kind. */
    Result MORE = new More();

    /**
     * Reads what it can, and returns what became of it. Called until there is {@link More}, or the last piece.
     *
     * @param in what is to be read next, with the reader index at the first byte that was not; it stays its owner's
     */
    Result transform(ByteBuf in, Input input);

    /** Releases what it holds, such as native memory. Called once, whether or not the body has ended. */
    void close();
}
