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

    /** How long an upstream may take before the gateway itself sends 100 (Continue). */
    private static final long CONTINUE_MILLIS = 1000;

    // The limits, in the order in which the timer looks at them: places of an array that has two numbers for each, how
    // many
    // milliseconds it lasts, and since when.
    private static final int REQUEST = 0;
    private static final int ATTEMPT = 2;
    private static final int HEAD = 4;
    private static final int SILENCE = 6;
    private static final int IDLE = 8;
    private static final int MAX = 10;
    private static final int PACE = 12;
    private static final int CONTINUE = 14;
    private static final int REPORT = 16;
    private static final int BACKOFF = 18;
    private static final int END = 20;

    private final Exchange exchange;
    private final TimerWheel wheel;
    private final long[] limits = new long[END];
    private long halfClosedMillis; // the idle limit once one direction of a tunnel has ended
    private boolean headByClient; // the client has chosen the limit of the response head
    private boolean continued; // somebody sends 100 (Continue), or will at its limit
    private long armedFor; // compare differences only, since nanoTime may wrap

    Deadlines(Exchange exchange, TimerWheel wheel) {
        this.exchange = exchange;
        this.wheel = wheel;
    }

    /** The limits of the whole exchange begin. */
    void begin(long requestMillis, long idleMillis, long since) {
        begin(REQUEST, requestMillis, since);
        begin(IDLE, idleMillis, since);
    }

    /** An attempt's limit begins. */
    void attempt(long attemptMillis, long since) {
        begin(ATTEMPT, attemptMillis, since);
    }

    /**
     * Limits the wait for the response head, from when the client has sent the request. {@link #headCame} or the end of the
     * attempt ends it.
     *
     * @param silentMillis time after which {@link Exchange#onSilent} checks whether the upstream answers at all
     */
    void awaitHead(long headMillis, long silentMillis, long since) {
        begin(HEAD, headMillis, since);
        begin(SILENCE, silentMillis, since);
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
        limits[ATTEMPT] = attemptMillis;
        limits[ATTEMPT + 1] = since;
        limits[HEAD] = headMillis;
        limits[SILENCE] = silentMillis;
        limits[HEAD + 1] = limits[SILENCE + 1] = sentSince;
        arm(wheel.nanoTime());
    }

    void headCame() {
        limits[HEAD] = limits[SILENCE] = 0;
    }

    /** The upstream has sent an interim head. */
    void isNotSilent() {
        limits[SILENCE] = 0;
    }

    void attemptOver() {
        limits[HEAD] = limits[SILENCE] = limits[ATTEMPT] = 0;
    }

    /** Checks the pace of the request's body periodically; 0 ends that. */
    void watchPace(long millis) {
        begin(PACE, millis, wheel.nanoTime());
    }

    /** The client waits for 100 (Continue), and somebody else may send it. Further calls have no effect. */
    void awaitContinue() {
        if (!continued) {
            continued = true;
            begin(CONTINUE, CONTINUE_MILLIS, wheel.nanoTime());
        }
    }

    /** The exchange has become a tunnel: the limits of tunnels replace all others, and periodic reports begin. */
    void tunnel(TunnelTimeouts tunnel, long reportMillis, long since) {
        for (int each = REQUEST; each < BACKOFF; each += 2) {
            limits[each] = 0;
        }
        continued = true;
        halfClosedMillis = Durations.millis(tunnel.halfClosed());
        begin(IDLE, Durations.millis(tunnel.idle()), since);
        begin(MAX, Durations.millis(tunnel.max()), since);
        begin(REPORT, reportMillis, since);
    }

    /** The gateway has asked the tunnel's ends to close it: limits the wait for that. */
    void awaitClose(long millis) {
        limits[IDLE] = halfClosedMillis = 0;
        begin(MAX, millis, wheel.nanoTime());
    }

    /** One direction of the tunnel has ended: the idle limit of half-closed tunnels holds from now on. */
    void halfClosed() {
        if (halfClosedMillis > 0) {
            begin(IDLE, halfClosedMillis, wheel.nanoTime());
        }
    }

    /** The next attempt is due after the delay. */
    void backOff(long delayMillis) {
        begin(BACKOFF, delayMillis, wheel.nanoTime());
    }

    /** Bytes have moved. */
    void touch() {
        if ((limits[IDLE] | limits[HEAD] | limits[SILENCE]) != 0) {
            limits[IDLE + 1] = limits[HEAD + 1] = limits[SILENCE + 1] = wheel.nanoTime();
        }
    }

    /** Returns for how long no byte has moved; since when the exchange lasts, if none of its limits depends on that. */
    long quietNanos(long now) {
        return now - limits[IDLE + 1];
    }

    /** Whether the time of the request or attempt is over although bytes moved in the second half of it. */
    boolean isSpentInMotion() {
        long now = wheel.nanoTime();
        return isSpentInMotion(REQUEST, now) || isSpentInMotion(ATTEMPT, now);
    }

    private boolean isSpentInMotion(int limit, long now) {
        boolean moved = (limits[IDLE] | limits[HEAD]) == 0 // else unknown
                || quietNanos(now) < limits[limit] * NANOS_PER_MILLI / 2;
        return left(limit, now) <= 0 && moved;
    }

    /**
     * Returns how much time the exchange has left. Limits of attempts do not count.
     *
     * @param quiet whether no bytes will move until then
     */
    long leftMillis(boolean quiet) {
        long now = wheel.nanoTime();
        return Math.min(left(REQUEST, now), quiet ? left(IDLE, now) : Long.MAX_VALUE);
    }

    /** A limit begins; 0 for none. */
    private void begin(int limit, long millis, long since) {
        limits[limit] = millis;
        limits[limit + 1] = since;
        if (!isArmed()) {
            arm(since); // also for the others, as it has just expired
        } else if (millis != 0) {
            armFor(millis, since);
        }
    }

    /** Arms the timer for the nearest limit. */
    private void arm(long now) {
        long left = Long.MAX_VALUE;
        for (int each = REQUEST; each < END; each += 2) {
            if (limits[each] != 0) {
                left = Math.min(left, left(each, now));
            }
        }
        if (left != Long.MAX_VALUE) {
            armFor(left, now);
        }
    }

    /** Arms the timer for this time, unless it expires sooner. */
    private void armFor(long millis, long since) {
        if (!isArmed() || armedFor - since > millis * NANOS_PER_MILLI) {
            armedFor = since + millis * NANOS_PER_MILLI;
            wheel.arm(this, millis);
        }
    }

    private long left(int limit, long now) {
        long millis = limits[limit];
        return millis == 0 ? Long.MAX_VALUE : millis - (now - limits[limit + 1]) / NANOS_PER_MILLI;
    }

    /** Returns the failure if the time is over that the client gives the upstream for a response head, else null. */
    @Nullable
    Failure clientsTimeUp() {
        return headByClient && left(HEAD, wheel.nanoTime()) <= 0 && exchange.owesHead()
                ? Failure.of(
                        Cause.UPSTREAM_TIMEOUT,
                        "no response head in the " + limits[HEAD] + " ms that the client gives (grpc-timeout)")
                : null;
    }

    @Override
    protected void onExpired() {
        long now = wheel.nanoTime();
        int due = REQUEST;
        while (due < END && left(due, now) > 0) {
            due += 2;
        }
        long millis = due < END ? limits[due] : 0;
        switch (due) {
            case REQUEST ->
                exchange.onTimeout(Failure.of(Cause.UPSTREAM_TIMEOUT, "no whole response in " + millis + " ms"));
            case ATTEMPT -> exchange.onAttemptTimeout(timeout("no whole response to the attempt in " + millis + " ms"));
            case HEAD -> onHeadDue(millis, now);
            case SILENCE -> onSilenceDue(millis, now);
            case IDLE ->
                exchange.onTimeUp(Failure.of(Cause.IDLE_TIMEOUT, "no byte in either direction in " + millis + " ms"));
            case MAX -> exchange.onTimeUp(Failure.of(Cause.MAX_DURATION, "a tunnel open for " + millis + " ms"));
            case PACE -> {
                again(PACE, millis, now);
                exchange.onPaceDue();
            }
            case CONTINUE -> {
                again(CONTINUE, 0, now);
                exchange.onContinueDue();
            }
            case REPORT -> {
                again(REPORT, millis, now);
                exchange.onReportDue();
            }
            case BACKOFF -> {
                again(BACKOFF, 0, now);
                exchange.onBackedOff();
            }
            default -> arm(now); // the limit that it was armed for has moved
        }
    }

    private void onHeadDue(long millis, long now) {
        Failure timeUp = clientsTimeUp();
        if (timeUp != null) {
            exchange.fail(timeUp);
        } else if (exchange.owesHead()) {
            exchange.onAttemptTimeout(Failure.of(Cause.UPSTREAM_TIMEOUT, "no response head in " + millis + " ms"));
        } else {
            again(HEAD, millis, now); // the gateway waits for the client, which has other limits
        }
    }

    private void onSilenceDue(long millis, long now) {
        boolean silent = exchange.owesHead(); // else the gateway waits for the client, and the limit begins again
        again(SILENCE, silent ? Math.min(millis, AGAIN_MILLIS) : millis, now);
        if (silent) {
            exchange.onSilent();
        }
    }

    /** A limit was due and begins again, or ends for 0. */
    private void again(int limit, long millis, long now) {
        limits[limit] = millis;
        limits[limit + 1] = now;
        arm(now);
    }

    private static Failure timeout(String detail) {
        return Failure.of(Cause.UPSTREAM_TIMEOUT, RetrySafety.IF_IDEMPOTENT, detail);
    }
}
