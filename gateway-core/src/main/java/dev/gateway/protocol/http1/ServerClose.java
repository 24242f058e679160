package dev.gateway.protocol.http1;

import dev.gateway.net.Lingering;
import dev.gateway.net.transport.IdleTasks;
import org.jspecify.annotations.Nullable;

/**
 * Closes a downstream connection so that its client can read what was sent last: when that has been announced, when the
 * client has ended its direction, or at once. Part of the connection, confined to its event loop.
 */
final class ServerClose {
    final CloseAnnouncement announcement;
    private final Http1ServerConnection connection;
    private final RequestInput input;
    private final ServerOutput output;
    private final ClientTimeouts timeouts;
    private final boolean halfClose; // clients that end their direction want what they get all the same
    private final @Nullable IdleTasks idleTasks = IdleTasks.ofThisLoop();
    private final Lingering lingering;
    private int lastRead; // turn of the loop

    ServerClose(
            Http1ServerConnection connection,
            RequestInput input,
            ServerOutput output,
            ClientTimeouts timeouts,
            Http1ServerSettings settings) {
        this.connection = connection;
        this.input = input;
        this.output = output;
        this.timeouts = timeouts;
        this.halfClose = settings.halfClose();
        this.announcement = new CloseAnnouncement(this::onOld, connection.timers);
        this.lingering =
                new Lingering(this::endLingering, connection.timers, settings.minBodyRate(), Lingering.PATIENT_MILLIS);
    }

    // ---- as long as the connection is idle

    /** Waits for a request for as long as it may take. */
    void waitForRequest() {
        if (announcement.isOld()) {
            timeouts.waitForLastRequest();
        } else {
            timeouts.waitForRequest();
        }
    }

    private void onOld() {
        if (connection.isIdle()) {
            timeouts.waitForLastRequest();
        }
    }

    /** Closes unless something runs, or a first request may be on its way. */
    void closeIfIdle() {
        if (connection.isIdle() && input.isFirst()) {
            timeouts.waitForFirstRequest();
        } else if (connection.isIdle()) {
            closeAfterWrites();
        }
    }

    // ---- the client's FIN

    /** Bytes have come. */
    void onRead() {
        if (idleTasks != null) {
            lastRead = idleTasks.turn();
        }
    }

    /** Whether clients that end their direction want what they get all the same. */
    boolean isHalfClose() {
        return halfClose;
    }

    /**
     * The client has ended its direction. Closes if no response is to come.
     *
     * @param open the request that is being answered, or null
     * @return whether the client has given that request up
     */
    boolean onInputEnded(@Nullable Http1ServerStream open) {
        boolean isOver =
                switch (input.state()) {
                    case HEAD -> input.isEmpty();
                    case BODY, DROPPED -> open == null;
                    case WAITING, CLOSED -> false;
                };
        if (isOver) {
            closeAfterWrites();
        }
        return open != null
                && switch (input.state()) {
                    case BODY -> true;
                    case WAITING -> hasGivenUp(open);
                    case HEAD, DROPPED, CLOSED -> false;
                };
    }

    /**
     * Whether the received FIN means that the client does not want its response: most have given up. Simple tools end their
     * direction with their last request, and want the response all the same: their FIN comes with the request, in the same
     * turn of the event loop. A response that has begun continues, unless its upstream is quiet. A client of CONNECT that has
     * sent bytes ahead ends its half of the tunnel.
     */
    private boolean hasGivenUp(Http1ServerStream open) {
        boolean tunnelHalfEnded = open.mayBecomeTunnel() && !input.isEmpty();
        boolean cameWithBytes = idleTasks != null && idleTasks.turn() == lastRead;
        return !open.isStarted() && !tunnelHalfEnded && !halfClose && !cameWithBytes;
    }

    /** Whether the client has ended its direction, and all that it has sent was gone through. */
    boolean isNoMoreToCome() {
        return connection.isInputEnded() && input.isEmpty();
    }

    // ---- ways to close

    /** Closes after the last response. If the client may still be sending, FIN comes first, and what it sends is dropped. */
    void finish() {
        boolean moreMayCome = input.mayHaveMore();
        input.release();
        if (connection.isInputEnded() || !moreMayCome) {
            closeAfterWrites();
            return;
        }
        // Closing with bytes unread would send a TCP reset, which destroys what the client has not read yet.
        input.drop();
        connection.credit.release();
        timeouts.cancel();
        lingering.begin(connection.ctx.channel(), output.shutdown());
    }

    /** The listener wants its connections closed soon. */
    void hurry() {
        lingering.hurry();
    }

    /** Whether the client has its answer, and is read on only so that it sees that. */
    boolean isLingering() {
        return lingering.isArmed();
    }

    private boolean endLingering() {
        connection.ctx.close();
        return true;
    }

    /** So many bytes have come after that, and were dropped. */
    void onDropped(int bytes) {
        lingering.onDropped(bytes);
    }

    /** Closes as soon as what was written has left. */
    void closeAfterWrites() {
        input.close();
        output.closeAfterWrites();
    }

    /** The channel is closed, or another handler has it: stops all timers, and releases what was read and written. */
    void closed() {
        input.close();
        timeouts.cancel();
        announcement.cancel();
        lingering.stop();
        output.stop();
        input.release();
    }
}
