package dev.gateway.protocol.http1;

import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;

/**
 * Watches a response of unknown length whose client has ended its direction after it began, such as an event stream whose tab
 * was closed. As long as bytes go out the client may want them all; once the upstream is quiet, nobody most likely waits for
 * more. Made when that happens; of one downstream connection, confined to its event loop.
 */
final class QuietResponse extends Timer {
    private static final long QUIET_MILLIS = 1000;
    private static final int LOOKS = 4;

    private final Owner owner;
    private final TimerWheel timers;
    private long written;
    private int quietLooks;

    QuietResponse(Owner owner, TimerWheel timers) {
        this.owner = owner;
        this.timers = timers;
    }

    /** Whose response it is. */
    interface Owner {
        /** Returns how many bytes were written so far. */
        long written();

        /** Whether the client takes all of them. */
        boolean isTaken();

        /** Nothing was written for a second, and nothing waits for the client. */
        void onQuiet();
    }

    /** Begins to watch. */
    void start() {
        written = owner.written();
        timers.arm(this, QUIET_MILLIS / LOOKS);
    }

    @Override
    protected void onExpired() {
        long now = owner.written();
        // While the client does not take what was sent, the silence may be ours.
        quietLooks = now == written && owner.isTaken() ? quietLooks + 1 : 0;
        written = now;
        if (quietLooks == LOOKS) {
            owner.onQuiet();
        } else {
            timers.arm(this, QUIET_MILLIS / LOOKS);
        }
    }
}
