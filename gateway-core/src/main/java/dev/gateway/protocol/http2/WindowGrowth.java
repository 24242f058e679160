package dev.gateway.protocol.http2;

import dev.gateway.time.TimerWheel;
import io.netty.handler.codec.http2.Http2Stream;

/**
 * Lets the window of a stream grow on a long path: where a windowful takes about a round trip, it is the window that
 * limits it. Only streams whose bytes are taken as they come get more, and only while that makes them faster; what all
 * have beyond their windows of before is bounded. Part of a connection, on its event loop.
 */
final class WindowGrowth {
    static final long PING = 0x7769_6e64_6f77_0001L;
    private static final long PING_AGAIN_NANOS = 10_000_000_000L;

    /** What an ended stream may leave untaken without its growth being withheld; one that never grew may as well. */
    private static final int UNTAKEN = 256 * 1024;

    /** About as long as a receiver that takes nothing may wait. */
    private static final long WITHHELD_NANOS = 60_000_000_000L;

    private final MultiplexedConnection connection;
    private final ReceiveWindows windows;
    private final TimerWheel timers;
    private int budget;
    private int withheld; // of streams that have ended, although what they brought may still be here
    private long withheldSince;
    private boolean pinged; // and not answered yet
    private long pingedAt;
    private long roundTrip; // in nanoseconds; 0 until it is known

    WindowGrowth(MultiplexedConnection connection, ReceiveWindows windows, TimerWheel timers, int budget) {
        this.connection = connection;
        this.windows = windows;
        this.timers = timers;
        this.budget = budget;
    }

    /** What is known of one stream's need, from the first time that it received a windowful. */
    static final class Need {
        private int grown; // bytes of the budget
        private long since; // when the last windowful was complete
        private double fastest; // bytes per nanosecond before its window grew last

        int grown() {
            return grown;
        }
    }

    /** A stream has received a windowful; returns how much it is to receive until the next one. */
    int onWindowful(Need need, Http2Stream h2) {
        long now = timers.nanoTime();
        int window = windows.size(h2);
        long nanos = Math.max(1, now - need.since);
        double speed = (double) window / nanos;
        boolean limited = need.since != 0 && nanos < roundTrip + roundTrip / 2;
        boolean taken = windows.unconsumed(h2) <= window / 2;
        need.since = now;
        // Where the path is full, all that more window does is to fill queues.
        if (limited && taken && speed > need.fastest * 5 / 4) {
            release(now);
            need.fastest = speed;
            int more = Math.min(window, budget);
            if (more > 0) {
                budget -= more;
                need.grown += more;
                windows.add(h2, more);
                return window + more;
            }
        }
        measure(now);
        return window;
    }

    private void measure(long now) {
        if (!pinged && (roundTrip == 0 || now - pingedAt > PING_AGAIN_NANOS)) {
            pinged = true;
            pingedAt = now;
            connection.ping(PING);
        }
    }

    void onPingAck() {
        if (pinged) {
            pinged = false;
            roundTrip = Math.max(1, timers.nanoTime() - pingedAt);
        }
    }

    /**
     * Gives the growth of an ended stream back. Bytes that came last may still wait for a slow receiver, and no event tells
     * when they have gone. Their part of the budget is withheld for a minute, so that streams cannot use up the budget one
     * after another.
     *
     * @param untaken how much of what was received was not taken yet
     */
    void giveBack(int grown, int untaken) {
        int kept = Math.max(0, Math.min(grown, untaken - UNTAKEN));
        budget += grown - kept;
        if (kept > 0) {
            withheldSince = withheld == 0 ? timers.nanoTime() : withheldSince;
            withheld += kept;
        }
    }

    private void release(long now) {
        if (withheld > 0 && now - withheldSince > WITHHELD_NANOS) {
            budget += withheld;
            withheld = 0;
        }
    }
}
