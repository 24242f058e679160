package dev.gateway.filter.compression;

import dev.gateway.filter.BodyTransform.Input;
import io.netty.buffer.ByteBuf;

/** Compressor of one body in one coding. Confined to the event loop of its exchange. */
interface Compressor {
    /**
     * Reads input, and writes what becomes of it. If room is left in the output, it has read all input, and has written
     * everything that a pause or the end of the input asks for.
     *
     * @param in the input, with the reader index at the first unread byte; the caller keeps ownership
     * @param out has room for 512 bytes at least; the caller keeps ownership
     * @throws OutOfMemoryError if native memory is short
     * @throws IllegalStateException if the library fails otherwise
     */
    void compress(ByteBuf in, ByteBuf out, Input input);

    /** Whether the input has ended and everything has been written. */
    boolean isFinished();

    /** Releases native memory, or gives it back for the next body. Called once. */
    void close();
}
