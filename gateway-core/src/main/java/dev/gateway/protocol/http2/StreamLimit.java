package dev.gateway.protocol.http2;

import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;

/**
 * How many streams an upstream takes at a time: as many as its SETTINGS say, and fewer for a while after it has refused
 * one, so that the request which was refused is not sent again on the same connection at once. The lower limit rises by
 * one after as many answers as it allows streams, and doubles after a second without an answer. Of one connection, on its
 * event loop.
 */
final class StreamLimit extends Timer {
    private static final long DOUBLED_AFTER_MILLIS = 1_000;

    private final TimerWheel timers;
    private final Runnable onRaised;
    private int said; // by SETTINGS, or assumed
    private int taken = Integer.MAX_VALUE; // what it has shown to take since it refused a stream
    private int answers; // since that was raised
    private boolean answered; // in this second

    /**
     * Makes the limit of a connection.
     *
     * @param assumed what holds until the upstream has said a number
     * @param onRaised told when there is more room though no stream has ended
     */
    StreamLimit(int assumed, TimerWheel timers, Runnable onRaised) {
        this.said = assumed;
        this.timers = timers;
        this.onRaised = onRaised;
    }

    int current() {
        return Math.min(said, taken);
    }

    /** The upstream has said a number, which is its last word on the matter. */
    void onSaid(int streams) {
        said = streams;
        forget();
    }

    /** The upstream has refused a stream while it had so many others. */
    void onRefused(int others) {
        taken = Math.min(taken, others);
        answers = 0;
        if (!isArmed()) {
            timers.arm(this, DOUBLED_AFTER_MILLIS);
        }
    }

    /** The upstream has answered a request. */
    void onAnswered() {
        if (taken != Integer.MAX_VALUE) {
            answered = true;
            if (++answers >= taken) {
                raise(taken + 1);
            }
        }
    }

    private void raise(int streams) {
        answers = 0;
        if (streams < said) {
            taken = streams;
        } else {
            forget();
        }
    }

    private void forget() {
        taken = Integer.MAX_VALUE;
        answered = false; // or the next second with a limit would count as one with an answer
        cancel();
    }

    @Override
    protected void onExpired() {
        if (!answered) {
            raise(Math.max(1, taken * 2));
        }
        answered = false;
        if (taken != Integer.MAX_VALUE) {
            timers.arm(this, DOUBLED_AFTER_MILLIS);
        }
        onRaised.run();
    }
}
