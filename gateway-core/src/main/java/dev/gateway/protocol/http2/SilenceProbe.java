package dev.gateway.protocol.http2;

import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;

/**
 * Asks an upstream by PING whether it is there, if nothing comes while requests wait for it, or after one was given up. One
 * that has vanished without a FIN would take all requests that follow too, until TCP gives up after a quarter of an hour.
 * Looks once a second, so that a request costs it next to nothing. Part of a connection, on its event loop.
 */
abstract class SilenceProbe extends Timer {
    /** What is found in the end. */
    static final String FINDING = "a PING was not answered in 5 s";

    static final long PING = 0x7072_6f62_6500_0001L;

    /** So many seconds it waits, first for anything at all, then for an answer to the PING. */
    static final int SILENT_SECONDS = 5;

    private static final long SECOND_MILLIS = 1000;

    private final TimerWheel timers;
    private int batches; // of bytes read; may wrap round
    private int batchesBefore;
    private int quiet; // seconds without any, or since the PING
    private boolean suspected; // a request was given up, and nothing has come since it was sent
    private boolean pinged; // and not answered
    private boolean found; // that no answer comes
    /** Servers of gRPC end connections for more PINGs than messages that they send. */
    private boolean mayPing = true;

    SilenceProbe(TimerWheel timers) {
        this.timers = timers;
    }

    /** Whether the connection carries messages. */
    abstract boolean isOpen();

    /** Whether a request waits for an answer. */
    abstract boolean isAwaited();

    /** Sends a PING. */
    abstract void ping();

    /**
     * Whether the upstream takes what is sent, and has not got all of it yet. The PING may wait behind that, as in an upload
     * over a slow link.
     *
     * @param millis how lately it must have acknowledged something
     */
    abstract boolean isDelivering(long millis);

    /**
     * Nothing at all came, not even an answer to the PING. Comes again if that lasts.
     *
     * @param first whether this silence is found for the first time; the upstream may be back when it comes again
     */
    abstract void onSilent(boolean first);

    /** Whether the upstream was found silent, and nothing has come since. */
    boolean isSilent() {
        return found && batches == batchesBefore;
    }

    /** Returns how many batches of bytes were read, to be compared with what it is later. */
    int batches() {
        return batches;
    }

    /** A batch of bytes was read, and is about to be handled. */
    void onRead() {
        batches++;
    }

    /** A frame of a message has come, HEADERS or DATA. */
    void onMessage() {
        mayPing = true;
    }

    /** A request was sent. */
    void onSent() {
        if (!isArmed()) {
            begin();
        }
    }

    /** A request was given up; if nothing was read since it was sent, the upstream is asked in a while. */
    void onGivenUp(int batchesWhenSent) {
        if (batches == batchesWhenSent && isOpen()) {
            suspected = true;
            if (!isArmed()) {
                begin();
            } else if (batches != batchesBefore) {
                hear(); // before that request
            }
        }
    }

    private void begin() {
        hear();
        timers.arm(this, SECOND_MILLIS);
    }

    private void hear() {
        batchesBefore = batches;
        quiet = 0;
        pinged = found = false;
    }

    @Override
    protected void onExpired() {
        if (!isOpen()) {
            return;
        }
        if (batches != batchesBefore) {
            suspected = false;
            hear();
        } else if (++quiet >= SILENT_SECONDS) {
            quiet = 0;
            onQuiet();
        }
        if (isOpen() && (suspected || isAwaited())) {
            timers.arm(this, SECOND_MILLIS);
        }
    }

    private void onQuiet() {
        if (pinged && isDelivering(SECOND_MILLIS * SILENT_SECONDS)) {
            return; // the PING has so much time once more
        }
        if (pinged) {
            boolean first = !found;
            suspected = false;
            found = true;
            onSilent(first);
        } else if (mayPing) {
            mayPing = false;
            pinged = true;
            ping();
        } else {
            suspected = false; // nothing can be asked
        }
    }
}
