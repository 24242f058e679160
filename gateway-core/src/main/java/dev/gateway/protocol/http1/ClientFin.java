package dev.gateway.protocol.http1;

import dev.gateway.net.transport.IdleTasks;
import org.jspecify.annotations.Nullable;

/**
 * What it means that a client has ended its direction while it waits for a response. Most have given up. Simple tools
 * end it with their last request, and want the response all the same: their FIN comes with the request, in the same turn
 * of the event loop. Part of a downstream connection.
 */
final class ClientFin {
    private final boolean halfClose; // none gives up
    private final @Nullable IdleTasks idleTasks = IdleTasks.ofThisLoop();
    private int lastRead; // turn of the loop

    ClientFin(boolean halfClose) {
        this.halfClose = halfClose;
    }

    /** Whether clients that end their direction want what they get all the same. */
    boolean isHalfClose() {
        return halfClose;
    }

    /** Bytes have come. */
    void onRead() {
        if (idleTasks != null) {
            lastRead = idleTasks.turn();
        }
    }

    /** Whether the FIN that has just come says that the client does not want the response any more. */
    boolean isAbort() {
        boolean cameWithBytes = idleTasks != null && idleTasks.turn() == lastRead;
        return !halfClose && !cameWithBytes;
    }
}
