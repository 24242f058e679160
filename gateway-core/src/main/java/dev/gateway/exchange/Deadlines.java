package dev.gateway.exchange;

import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.format.Durations;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;
import org.jspecify.annotations.Nullable;

/**
 * All time limits of one exchange on one timer. The timer is armed for the nearest limit, and looks at all again when it
 * expires, so that moving bytes costs one reading of the clock. Times are nanoseconds of the loop's clock, limits
 * milliseconds, 0 for no limit.
 */
final class Deadlines extends Timer {
    private static final long NANOS_PER_MILLI = 1_000_000;

    /** Time between two checks of a silent upstream. */
    private static final long AGAIN_MILLIS = 1000;

    /** Whether the client waits for 100 (Continue), and how long an upstream may take before the gateway sends it. */
    private enum Consent {
        UNASKED(0),
        AWAITED(1000),
        GIVEN(0);

        private final long millis;

        Consent(long millis) {
            this.millis = millis;
        }
    }

    private final Owner owner;
    private final TimerWheel wheel;
    private long requestMillis;
    private long requestSince;
    private long attemptMillis;
    private long attemptSince;
    private long headMillis;
    private long headSince;
    private boolean headByClient; // the client has chosen its limit
    private long silentMillis;
    private long silentSince;
    private long idleMillis;
    private long idleSince;
    private long halfClosedMillis;
    private long maxMillis;
    private long maxSince;
    private long continueSince;
    private Consent consent = Consent.UNASKED;
    private long reportMillis;
    private long reportSince;
    private long paceMillis;
    private long paceSince;
    private boolean backingOff;
    private long backoffMillis;
    private long backoffSince;
    private long armedFor; // compare differences only, since nanoTime may wrap

    /** The exchange that has these limits; called on its event loop. */
    interface Owner {
        /** The exchange has taken too long in total. */
        void onTimeout(Failure failure);

        /** The current attempt has taken too long, or its upstream has not answered in time. */
        void onAttemptTimeout(Failure failure);

        /** The upstream has not answered in the time that the client gives: nobody has failed. */
        void onClientsTimeUp(Failure failure);

        /** The upstream has not sent a head for a long time; called each second until it does. */
        void onSilent();

        /** Whether the gateway waits for the upstream: it has the whole request, or does not take the next part. */
        boolean owesHead();

        /** No byte has moved for too long ({@link Cause#IDLE_TIMEOUT}), or a tunnel is too old. */
        void onTimeUp(Failure failure);

        /** It is time to check how fast the client sends the request's body. */
        void onPaceDue();

        /** A client that waits for 100 (Continue) has waited long enough. */
        void onContinueDue();

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
     * Limits the wait for the response head, from when the client has sent the request. {@link #headCame} or the end of the
     * attempt ends it.
     *
     * @param silentMillis time after which {@link Owner#onSilent} checks whether the upstream answers at all
     */
    void awaitHead(long headMillis, long silentMillis, long since) {
        this.headMillis = headMillis;
        this.silentMillis = silentMillis;
        headSince = silentSince = since;
        arm(since);
    }

    /** The client has chosen how long the response head is waited for, in each attempt. */
    void isChosenByClient() {
        headByClient = true;
    }

    /**
     * An attempt that began while the current one ran takes its place.
     *
     * @param headMillis 0 also if it has not sent the request, or has its response head
     * @param silentMillis likewise
     */
    void replaceAttempt(long attemptMillis, long since, long headMillis, long silentMillis, long sentSince) {
        this.attemptMillis = attemptMillis;
        attemptSince = since;
        this.headMillis = headMillis;
        this.silentMillis = silentMillis;
        headSince = silentSince = sentSince;
        arm(wheel.nanoTime());
    }

    void headCame() {
        headMillis = silentMillis = 0;
    }

    /** The upstream has sent an interim head. */
    void isNotSilent() {
        silentMillis = 0;
    }

    void attemptOver() {
        headMillis = silentMillis = 0;
        attemptMillis = 0;
    }

    /** Checks the pace of the request's body periodically; 0 ends that. */
    void watchPace(long millis) {
        paceMillis = millis;
        if (millis > 0) {
            paceSince = wheel.nanoTime();
            arm(paceSince);
        }
    }

    /** The client waits for 100 (Continue), and somebody else may send it. Further calls have no effect. */
    void awaitContinue() {
        if (consent == Consent.UNASKED) {
            consent = Consent.AWAITED;
            continueSince = wheel.nanoTime();
            arm(continueSince);
        }
    }

    /** The exchange has become a tunnel: the limits of tunnels replace all others, and periodic reports begin. */
    void tunnel(TunnelTimeouts limits, long reportMillis, long since) {
        requestMillis = attemptMillis = headMillis = silentMillis = paceMillis = 0;
        consent = Consent.GIVEN;
        idleMillis = Durations.millis(limits.idle());
        halfClosedMillis = Durations.millis(limits.halfClosed());
        maxMillis = Durations.millis(limits.max());
        idleSince = maxSince = reportSince = since;
        this.reportMillis = reportMillis;
        arm(since);
    }

    /** The gateway has asked the tunnel's ends to close it: limits the wait for that. */
    void awaitClose(long millis) {
        idleMillis = halfClosedMillis = 0;
        maxMillis = millis;
        maxSince = wheel.nanoTime();
        arm(maxSince);
    }

    /** One direction of the tunnel has ended: the idle limit of half-closed tunnels holds from now on. */
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

    /** Bytes have moved. */
    void touch() {
        if ((idleMillis | headMillis | silentMillis) != 0) {
            idleSince = headSince = silentSince = wheel.nanoTime();
        }
    }

    /** Returns for how long no byte has moved; since when the exchange lasts, if none of its limits depends on that. */
    long quietNanos(long now) {
        return now - idleSince;
    }

    /** Whether the time of the request or attempt is over although bytes moved in the second half of it. */
    boolean isSpentInMotion() {
        long now = wheel.nanoTime();
        return isSpentInMotion(requestMillis, requestSince, now) || isSpentInMotion(attemptMillis, attemptSince, now);
    }

    private boolean isSpentInMotion(long limit, long since, long now) {
        boolean moved = (idleMillis | headMillis) == 0 || now - idleSince < limit * NANOS_PER_MILLI / 2; // else unknown
        return left(limit, since, now) <= 0 && moved;
    }

    /**
     * Returns how much time the exchange has left. Limits of attempts do not count.
     *
     * @param quiet whether no bytes will move until then
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
        left = Math.min(left, left(consent.millis, continueSince, now));
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

    /** Returns the failure if the time is over that the client gives the upstream for a response head, else null. */
    @Nullable
    Failure clientsTimeUp() {
        return headByClient && left(headMillis, headSince, wheel.nanoTime()) <= 0 && owner.owesHead()
                ? Failure.of(
                        Cause.UPSTREAM_TIMEOUT,
                        "no response head in the " + headMillis + " ms that the client gives (grpc-timeout)")
                : null;
    }

    @Override
    protected void onExpired() {
        long now = wheel.nanoTime();
        if (left(requestMillis, requestSince, now) <= 0) {
            owner.onTimeout(Failure.of(Cause.UPSTREAM_TIMEOUT, "no whole response in " + requestMillis + " ms"));
        } else if (left(attemptMillis, attemptSince, now) <= 0) {
            owner.onAttemptTimeout(timeout("no whole response to the attempt in " + attemptMillis + " ms"));
        } else if (left(headMillis, headSince, now) <= 0) {
            Failure timeUp = clientsTimeUp();
            if (timeUp != null) {
                owner.onClientsTimeUp(timeUp);
            } else if (owner.owesHead()) {
                owner.onAttemptTimeout(Failure.of(Cause.UPSTREAM_TIMEOUT, "no response head in " + headMillis + " ms"));
            } else {
                headSince = now; // the gateway waits for the client, which has other limits
                arm(now);
            }
        } else if (left(silentMillis, silentSince, now) <= 0) {
            boolean silent = owner.owesHead(); // else the gateway waits for the client, and the limit begins again
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
        } else if (left(consent.millis, continueSince, now) <= 0) {
            consent = Consent.GIVEN;
            arm(now);
            owner.onContinueDue();
        } else if (left(reportMillis, reportSince, now) <= 0) {
            reportSince = now;
            arm(now);
            owner.onReportDue();
        } else if (backingOff && now - backoffSince >= backoffMillis * NANOS_PER_MILLI) {
            backingOff = false;
            arm(now);
            owner.onBackedOff();
        } else {
            arm(now); // the limit that it was armed for has moved
        }
    }

    private static Failure timeout(String detail) {
        return Failure.of(Cause.UPSTREAM_TIMEOUT, RetrySafety.IF_IDEMPOTENT, detail);
    }
}
