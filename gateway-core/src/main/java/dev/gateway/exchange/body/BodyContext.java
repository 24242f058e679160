package dev.gateway.exchange.body;

import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;

/** The exchange of a body, or a request of the gateway's own that has one. */
public interface BodyContext {
    /** Returns the client's connection; the bytes that all its exchanges hold are added up. */
    ConnectionInfo connection();

    /** Returns the cause of what the exchange holds: the same object for everything that is added up. */
    default Object culprit() {
        return connection().culprit();
    }

    /** Returns how many bytes of heap the exchange holds. */
    long heldHeap();

    /** Whether it is over: then who has got the bytes owns them. */
    boolean isDone();

    /** It cannot succeed any more. */
    void fail(Failure failure);

    /** A filter of the body threw an exception. */
    void onDefect(Throwable defect);
}
