package dev.gateway.filter.decompression;

import dev.gateway.stream.Failure;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** Decompressor of one body in one coding. Confined to the event loop of its exchange. */
interface Decompressor {
    /**
     * Reads input, and writes what becomes of it. If room is left in the output, it has read all input, and needs more for
     * more output.
     *
     * @param in the input, with the reader index at the first unread byte; the caller keeps ownership
     * @param out the caller keeps ownership
     * @return why the exchange fails; null if the body is valid so far
     * @throws OutOfMemoryError if native memory is short
     */
    @Nullable
    Failure decompress(ByteBuf in, ByteBuf out);

    /** Whether the body may end here. */
    boolean isWhole();

    /** Releases native memory, or gives it back for the next body. Called once. */
    void close();
}
