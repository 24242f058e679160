package dev.gateway.observe.accesslog;

import java.io.Closeable;
import java.io.IOException;

/** An open place that lines go to. Used by one thread at a time, which it may block. */
interface LogDestination extends Closeable {
    /**
     * Writes whole lines, each with its end.
     *
     * @param lines not to be kept
     * @param length how much of them counts
     * @return how many of them were lost
     * @throws IOException if none of them could be written
     */
    int write(byte[] lines, int length) throws IOException;

    /** Begins again, after somebody moved what was written. */
    default void reopen() throws IOException {}
}
