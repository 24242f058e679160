package dev.gateway.exchange;

import dev.gateway.route.Route;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;

/**
 * All time limits of one exchange on one timer: it is armed for the nearest, and only looks again when that comes, so
 * that bytes in motion cost a clock reading and nothing more. Times are nanoseconds of the loop's clock, limits
 * milliseconds, 0 for none.
 */
final class Deadlines extends Timer {
    private static final long NANOS_PER_MILLI = 1_000_000;

    /** Between two looks at an upstream that is silent. */
    private static final long AGAIN_MILLIS = 1000;

    private final Owner owner;
    private final TimerWheel wheel;
    private long requestMillis;
    private long requestSince;
    private long attemptMillis;
    private long attemptSince;
    private long headMillis;
    private long headSince;
    private long silentMillis;
    private long silentSince;
    private long idleMillis;
    private long idleSince;
    private long halfClosedMillis;
    private long maxMillis;
    private long maxSince;
    private long reportMillis;
    private long reportSince;
    private long paceMillis;
    private long paceSince;
    private boolean backingOff;
    private long backoffMillis;
    private long backoffSince;
    private long armedFor; // elapsed time is compared, never absolute: nanoTime may wrap

    /** The exchange whose time it is; called on its event loop. */
    interface Owner {
        /** The request has taken too long in all. */
        void onTimeout(Failure failure);

        /** The current attempt has taken too long, or its upstream has not answered in time. */
        void onAttemptTimeout(Failure failure);

        /** Still no head has come from the upstream, and maybe nothing comes from it at all; asked again and again. */
        void onSilent();

        /** Whether it is the upstream's turn: it has the whole request, or does not take the part that is here. */
        boolean owesHead();

        /** Nothing has moved for too long ({@link Cause#IDLE_TIMEOUT}), or a tunnel is too old. */
        void onTimeUp(Failure failure);

        /** It is time to look how fast the client sends the request's body. */
        void onPaceDue();

        /** It is time to report on a tunnel. */
        void onReportDue();

        /** It is time for the next attempt. */
        void onBackedOff();
    }

    Deadlines(Owner owner, TimerWheel wheel) {
        this.owner = owner;
        this.wheel = wheel;
    }

    /** The limits of the whole exchange begin. */
    void begin(long requestMillis, long idleMillis, long since) {
        this.requestMillis = requestMillis;
        this.idleMillis = idleMillis;
        requestSince = since;
        idleSince = since;
        arm(since);
    }

    /** An attempt's limit begins. */
    void attempt(long attemptMillis, long since) {
        this.attemptMillis = attemptMillis;
        attemptSince = since;
        arm(since);
    }

    /**
     * The upstream is to send a response head, as soon as the client has sent what it answers; forgotten by {@link #headCame}
     * or the attempt's end.
     *
     * @param silentMillis after which somebody is to look whether anything comes from it
     */
    void awaitHead(long headMillis, long silentMillis, long since) {
        this.headMillis = headMillis;
        this.silentMillis = silentMillis;
        headSince = silentSince = since;
        arm(since);
    }

    void headCame() {
        headMillis = silentMillis = 0;
    }

    /** The upstream has said something before its head. */
    void isNotSilent() {
        silentMillis = 0;
    }

    void attemptOver() {
        headMillis = silentMillis = 0;
        attemptMillis = 0;
    }

    /** The pace of the request's body is to be looked at after each such time, until 0 is said. */
    void watchPace(long millis) {
        paceMillis = millis;
        if (millis > 0) {
            paceSince = wheel.nanoTime();
            arm(paceSince);
        }
    }

    /** The exchange has become a tunnel: limits of its own take the place of all others, and it is reported on. */
    void tunnel(Route.TunnelTimeouts limits, long reportMillis, long since) {
        requestMillis = attemptMillis = headMillis = silentMillis = paceMillis = 0;
        idleMillis = limits.idleMillis();
        halfClosedMillis = limits.halfClosedMillis();
        maxMillis = limits.maxMillis();
        idleSince = maxSince = reportSince = since;
        this.reportMillis = reportMillis;
        arm(since);
    }

    /** The tunnel has been told to end: there is nothing to wait for but that. */
    void awaitClose(long millis) {
        idleMillis = halfClosedMillis = 0;
        maxMillis = millis;
        maxSince = wheel.nanoTime();
        arm(maxSince);
    }

    /** One direction of the tunnel has ended: from now on another limit holds for the silence of the other. */
    void halfClosed() {
        if (halfClosedMillis > 0) {
            idleMillis = halfClosedMillis;
            idleSince = wheel.nanoTime();
            arm(idleSince);
        }
    }

    /** The next attempt is due after the delay. */
    void backOff(long delayMillis) {
        backingOff = true;
        backoffMillis = delayMillis;
        backoffSince = wheel.nanoTime();
        arm(backoffSince);
    }

    /** Bytes moved. */
    void touch() {
        if ((idleMillis | headMillis | silentMillis) != 0) {
            idleSince = headSince = silentSince = wheel.nanoTime();
        }
    }

    /** Whether the time is over that the request or the attempt has in all, and bytes moved in the latter half of it. */
    boolean isSpentInMotion() {
        long now = wheel.nanoTime();
        return isSpentInMotion(requestMillis, requestSince, now) || isSpentInMotion(attemptMillis, attemptSince, now);
    }

    private boolean isSpentInMotion(long limit, long since, long now) {
        boolean moved = (idleMillis | headMillis) == 0 || now - idleSince < limit * NANOS_PER_MILLI / 2; // else unknown
        return left(limit, since, now) <= 0 && moved;
    }

    /**
     * Returns how much time the exchange has, whatever its attempts have.
     *
     * @param quiet whether nothing moves until then
     */
    long leftMillis(boolean quiet) {
        long now = wheel.nanoTime();
        return Math.min(left(requestMillis, requestSince, now), left(quiet ? idleMillis : 0, idleSince, now));
    }

    private void arm(long now) {
        long left = Long.MAX_VALUE;
        left = Math.min(left, left(requestMillis, requestSince, now));
        left = Math.min(left, left(attemptMillis, attemptSince, now));
        left = Math.min(left, left(headMillis, headSince, now));
        left = Math.min(left, left(silentMillis, silentSince, now));
        left = Math.min(left, left(idleMillis, idleSince, now));
        left = Math.min(left, left(maxMillis, maxSince, now));
        left = Math.min(left, left(paceMillis, paceSince, now));
        left = Math.min(left, left(reportMillis, reportSince, now));
        if (backingOff) {
            left = Math.min(left, backoffMillis - (now - backoffSince) / NANOS_PER_MILLI);
        }
        if (left != Long.MAX_VALUE && (!isArmed() || armedFor - now > left * NANOS_PER_MILLI)) {
            armedFor = now + left * NANOS_PER_MILLI;
            wheel.arm(this, left);
        }
    }

    private static long left(long limit, long since, long now) {
        return limit == 0 ? Long.MAX_VALUE : limit - (now - since) / NANOS_PER_MILLI;
    }

    @Override
    protected void onExpired() {
        long now = wheel.nanoTime();
        if (left(requestMillis, requestSince, now) <= 0) {
            owner.onTimeout(Failure.of(Cause.UPSTREAM_TIMEOUT, "no whole response in " + requestMillis + " ms"));
        } else if (left(attemptMillis, attemptSince, now) <= 0) {
            owner.onAttemptTimeout(timeout("no whole response to the attempt in " + attemptMillis + " ms"));
        } else if (left(headMillis, headSince, now) <= 0) {
            if (owner.owesHead()) {
                owner.onAttemptTimeout(timeout("no response head in " + headMillis + " ms"));
            } else {
                headSince = now; // the client's turn, for whose silence there are other limits
                arm(now);
            }
        } else if (left(silentMillis, silentSince, now) <= 0) {
            boolean silent = owner.owesHead(); // else the gateway waits for the client, and the limit starts again
            silentSince = now;
            silentMillis = silent ? Math.min(silentMillis, AGAIN_MILLIS) : silentMillis;
            arm(now);
            if (silent) {
                owner.onSilent();
            }
        } else if (left(idleMillis, idleSince, now) <= 0) {
            owner.onTimeUp(Failure.of(Cause.IDLE_TIMEOUT, "no byte in either direction in " + idleMillis + " ms"));
        } else if (left(maxMillis, maxSince, now) <= 0) {
            owner.onTimeUp(Failure.of(Cause.MAX_DURATION, "a tunnel open for " + maxMillis + " ms"));
        } else if (left(paceMillis, paceSince, now) <= 0) {
            paceSince = now;
            arm(now);
            owner.onPaceDue();
        } else if (left(reportMillis, reportSince, now) <= 0) {
            reportSince = now;
            arm(now);
            owner.onReportDue();
        } else if (backingOff && now - backoffSince >= backoffMillis * NANOS_PER_MILLI) {
            backingOff = false;
            arm(now);
            owner.onBackedOff();
        } else {
            arm(now); // what it was armed for has moved
        }
    }

    private static Failure timeout(String detail) {
        return Failure.of(Cause.UPSTREAM_TIMEOUT, RetrySafety.IF_IDEMPOTENT, detail);
    }
}
