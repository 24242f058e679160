package dev.gateway.tests.peer;

import java.io.Closeable;
import java.io.IOException;

/** One connection of a client or origin. */
public interface Peer extends Closeable {
    /** How long a test waits for what must come; only a failing test waits that long. */
    int PATIENCE_MILLIS = 20_000;

    /** Starts an exchange; for clients. */
    PeerStream open() throws IOException;

    /** Closes the connection in order. */
    @Override
    void close() throws IOException;

    /** Closes the connection by a TCP reset. What the kernel has not sent yet is lost, see {@link #awaitDelivery}. */
    void abort() throws IOException;

    /** Waits until the other side's kernel has received all that was sent. */
    void awaitDelivery() throws IOException;

    /** Waits until the other side has closed the connection, dropping what it sends until then. */
    void awaitClosed() throws IOException;
}
