package dev.gateway.protocol.http2;

import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;

/** Ends a stream whose peer takes nothing of what waits for it. Part of the stream, made when something first waits. */
final class StallTimer extends Timer {
    /** The stream that waits. */
    interface Owner {
        /** Whether it could send, if it were its turn. */
        boolean hasWindow();

        /** Returns how many bytes of bodies its connection has sent, of all streams. */
        long dataWritten();

        /** Its peer has taken nothing for as long as it may. */
        void onStalled();
    }

    private final Owner stream;
    private final TimerWheel timers;
    private final long millis;
    private boolean progressed; // bytes left since it was armed
    private long othersBefore; // bytes that the connection had sent when it was armed

    /**
     * Makes the timer of one stream.
     *
     * @param millis how long its peer may take nothing
     */
    StallTimer(Owner stream, TimerWheel timers, long millis) {
        this.stream = stream;
        this.timers = timers;
        this.millis = millis;
    }

    void arm() {
        progressed = false;
        othersBefore = stream.dataWritten();
        timers.arm(this, millis);
    }

    void onProgress() {
        progressed = true;
    }

    /** Whether the peer takes bytes, of this stream or of others whose turn it is. */
    private boolean isPeerTaking() {
        return progressed || (stream.dataWritten() != othersBefore && stream.hasWindow());
    }

    @Override
    protected void onExpired() {
        if (isPeerTaking()) {
            arm();
        } else {
            stream.onStalled();
        }
    }
}
