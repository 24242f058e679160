package dev.gateway.upstream.pool;

import dev.gateway.net.PeerAcks;
import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether the endpoint of a connection of HTTP/1.1 is gone: its kernel acknowledges nothing that is sent to it. An
 * acknowledged request may take as long as it likes. Looks once a second, and only while a request has waited for some
 * seconds. Part of a connection, on its event loop.
 */
final class AckWatch extends Timer {
    private static final long SECOND_MILLIS = 1000;

    /** So many seconds a request waits before the kernel is asked. */
    static final int PATIENCE_SECONDS = 5;

    /** So many seconds without an acknowledgement mean that nobody is there. */
    static final int SILENT_SECONDS = 10;

    /** The connection. */
    interface Watched {
        /** Whether a request was sent that has no answer yet. */
        boolean isAwaited();

        /** Returns a number that changes with whatever is sent or comes. */
        int activity();

        /** Returns what the kernel knows, null if that cannot be told. */
        @Nullable
        PeerAcks acks();

        /** Has the kernel probe the peer, or ends that. */
        void probe(boolean on);

        /**
         * Nothing was acknowledged for {@link #SILENT_SECONDS}. Comes again if that lasts.
         *
         * @param first whether this silence is found for the first time; the endpoint may be back when it comes again
         */
        void onSilent(boolean first);
    }

    private final Watched watched;
    private final TimerWheel wheel;
    private int activity; // when it looked last
    private int quiet; // seconds since then
    private int probed; // seconds in a row in which a probe was not acknowledged
    private boolean probing;
    private boolean found; // in this silence

    AckWatch(Watched watched, TimerWheel wheel) {
        this.watched = watched;
        this.wheel = wheel;
    }

    /** A request begins. Does nothing while it watches already. */
    void begin() {
        if (!isArmed()) {
            restart();
            wheel.arm(this, SECOND_MILLIS);
        }
    }

    private void restart() {
        activity = watched.activity();
        quiet = probed = 0;
        found = false;
    }

    @Override
    protected void onExpired() {
        if (!watched.isAwaited()) {
            probe(false);
            return;
        }
        if (watched.activity() != activity) {
            restart();
            probe(false);
        } else {
            quiet++;
            if (quiet >= PATIENCE_SECONDS) {
                look();
            }
        }
        if (watched.isAwaited()) { // what was found may have closed the connection
            wheel.arm(this, SECOND_MILLIS);
        }
    }

    private void look() {
        PeerAcks acks = watched.acks();
        if (acks == null) {
            return;
        }
        boolean heard = acks.lastMillis() < SECOND_MILLIS * SILENT_SECONDS;
        found &= !heard; // what follows is another silence
        probe(!found); // a probe that nobody answers must not end the connection
        probed = acks.unackedProbes() ? probed + 1 : 0;
        // What is not acknowledged now was sent before the quiet began. A probe was sent some time later.
        int seconds = acks.unacked() ? quiet : probed;
        if (!heard && seconds >= SILENT_SECONDS) {
            boolean first = !found;
            quiet = probed = 0;
            found = true;
            probe(false);
            watched.onSilent(first);
        }
    }

    private void probe(boolean on) {
        if (probing != on) {
            probing = on;
            watched.probe(on);
        }
    }
}
