package dev.gateway.http2;

import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;

/**
 * Asks a silent upstream by PING whether it is there. One that has vanished without a FIN would take all requests that
 * follow too, until TCP gives up after a quarter of an hour. Part of a connection, on its event loop.
 */
final class SilenceProbe extends Timer {
    static final long SILENCE_MILLIS = 5_000;
    static final long PING = 0x7072_6f62_6500_0001L;

    /** The connection that may be dead. */
    interface Owner {
        boolean isOpen();

        void ping(long data);

        /** Nothing at all came, not even an answer to the PING. */
        void onSilent();
    }

    private final Owner owner;
    private final TimerWheel timers;
    private int batches; // of frames read; may wrap round
    private int batchesBefore;
    private boolean pinged;

    SilenceProbe(Owner owner, TimerWheel timers) {
        this.owner = owner;
        this.timers = timers;
    }

    /** Returns how many batches of frames were read, to be compared with what it is later. */
    int batches() {
        return batches;
    }

    /** A batch of frames was read. */
    void onRead() {
        batches++;
    }

    /** A request was given up; if nothing was read since it was sent, the upstream is asked in a while. */
    void onGivenUp(int batchesWhenSent) {
        if (batches == batchesWhenSent && !isArmed() && owner.isOpen()) {
            pinged = false;
            batchesBefore = batches;
            timers.arm(this, SILENCE_MILLIS);
        }
    }

    @Override
    protected void onExpired() {
        if (batches != batchesBefore || !owner.isOpen()) {
            return;
        }
        if (pinged) {
            owner.onSilent();
        } else {
            pinged = true;
            owner.ping(PING);
            timers.arm(this, SILENCE_MILLIS);
        }
    }
}
