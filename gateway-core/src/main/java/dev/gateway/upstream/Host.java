package dev.gateway.upstream;

import dev.gateway.upstream.limit.Share;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Host: the live state of one endpoint, such as its requests in flight and its health. One object per address and upstream,
 * which all event loops share. The path of a request takes no lock of it.
 */
public final class Host {
    /** How long an endpoint counts as unreachable after a failed connection, if nothing has connected since. */
    private static final long LATELY_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** How exact {@link #heardNanos} is. */
    private static final long HEARD_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /**
     * A drain that leaves an endpoint its sessions for a time.
     *
     * @param number tells it from other drains
     * @param endNanos when the sessions go to other endpoints, by the clock of {@link Health}
     */
    record SessionDrain(long number, long endNanos) {}

    private final Endpoint endpoint;
    private volatile EndpointSpec spec;
    private Share connections = Share.unlimited();
    private Share requests = Share.unlimited();
    private final Latency latency = new Latency();

    /** Failures in a row. */
    final AtomicInteger failures = new AtomicInteger();

    /** Whether the last attempt to connect failed. */
    private volatile boolean unreached;

    /** Whether it left the last request that it took unanswered. */
    private volatile boolean unanswered;

    /** When the last attempt to connect failed; valid while it is unreached. */
    private volatile long unreachedNanos;

    /** Whether the balancer chooses it at present. */
    private volatile boolean chosen = true;

    /** Whether the balancer chooses no endpoint at all, so that requests that wait for this one have no better choice. */
    private volatile boolean alone;

    /** Whether it gets no requests only because it was ejected. */
    private volatile boolean spare;

    /** Whether its checks fail. */
    private volatile boolean unhealthy;

    /** Since when; valid while they do. */
    private volatile long unhealthyNanos;

    /** Whether its upstream no longer has this endpoint. */
    private volatile boolean gone;

    /** Results of requests since the last review of success rates; counted only if there are such reviews. */
    private final LongAdder served = new LongAdder();

    private final LongAdder failed = new LongAdder();
    private volatile double successRate = Double.NaN;

    /** Which part of its share of requests it gets during slow start. */
    final Ramp ramp = new Ramp();

    /** When it answered, roughly. */
    private volatile long heardNanos;

    /** Whether it has answered at all. */
    private volatile boolean heard;

    private final AtomicLong resetNanos = new AtomicLong(); // when it reset a request that counted
    private volatile boolean hasReset; // whether it has reset any

    /** Whether it drains, but requests of its sessions still go there. */
    private volatile boolean keepingSessions;

    // Guarded by the Health of its upstream.
    boolean draining;

    /** The drain that leaves it its sessions, null if none does. */
    @Nullable
    SessionDrain sessionDrain;

    final Ejection ejection = new Ejection();

    boolean checked; // whether active checks have judged it

    /** Why its checks fail, null if they do not. */
    @Nullable
    String failedCheck;

    /** Makes the state of an endpoint that nobody has used yet. */
    public Host(Endpoint endpoint) {
        this.endpoint = endpoint;
        this.spec = EndpointSpec.of(endpoint);
    }

    /** Sets the shares of limits that its connections and requests count against; called before it is used. */
    void limitBy(Share connectionsShare, Share requestsShare) {
        connections = connectionsShare;
        requests = requestsShare;
    }

    /** Has no limit until the upstream divides its limits, because requests may come a moment before that. */
    void beginUndivided() {
        connections.beginUndivided();
        requests.beginUndivided();
    }

    /** Its upstream has removed it. It gets nothing new, and what is in flight no longer counts against limits. */
    void leave() {
        chosen = false;
        alone = false;
        keepingSessions = false;
        spare = false;
        gone = true;
        draining = true;
        sessionDrain = null;
        connections.leave();
        requests.leave();
    }

    /** Whether its upstream has removed it: exchanges in progress may finish there, and no new ones begin. */
    public boolean isGone() {
        return gone;
    }

    void setSpec(EndpointSpec wanted) {
        spec = wanted;
    }

    /** Returns its current specification, which discovery may change. */
    public EndpointSpec spec() {
        return spec;
    }

    /** Returns the endpoint whose state this is. */
    public Endpoint endpoint() {
        return endpoint;
    }

    /** Returns its current share of requests, relative to the other endpoints of the upstream; more than 0. */
    public double weight() {
        return spec.weight() * ramp.factor();
    }

    /** Returns which part of its share it gets while it starts slowly; 1 for all. */
    public double slowStart() {
        return ramp.factor();
    }

    void countOutcome(boolean good) {
        (good ? served : failed).increment();
    }

    /** Ends an interval of success rates; returns whether it had as many requests. */
    boolean endInterval(int requests) {
        long good = served.sumThenReset();
        long bad = failed.sumThenReset();
        boolean enough = good + bad >= requests;
        successRate = enough ? (double) good / (good + bad) : Double.NaN;
        return enough;
    }

    /** Returns the part of requests that succeeded in the last interval, {@code NaN} if it is not known. */
    public double successRate() {
        return successRate;
    }

    /** Returns its share of the limit of connections, which the pools enforce. */
    public Share connections() {
        return connections;
    }

    /** Returns its share of the limit of requests in flight, which the pools enforce. */
    public Share requests() {
        return requests;
    }

    /** Returns how long its answers take. It is measured only if {@link Balancer#timesAnswers}. */
    public Latency latency() {
        return latency;
    }

    /** Whether the last attempt to connect failed. */
    public boolean isUnreached() {
        return unreached;
    }

    /** The endpoint took a request, and answered it or did not. Writes only a change, as {@link #setReached} does. */
    void setUnanswered(boolean now) {
        if (unanswered != now) {
            unanswered = now;
        }
    }

    /** Whether the last attempt to connect failed, or the last request got no answer. */
    boolean isUnresponsive() {
        return unreached || unanswered;
    }

    /** Whether an attempt to connect failed lately, and none has succeeded since. */
    boolean isUnreachedLately(long nanos) {
        return unreached && nanos - unreachedNanos < LATELY_NANOS;
    }

    /** Takes over whether it could be reached, its latency, and its progress in slow start. */
    void inheritReach(Host before) {
        latency.inherit(before.latency);
        ramp.inherit(before.ramp);
        if (before.unreached) {
            setReached(false, before.unreachedNanos);
        }
    }

    /**
     * The gateway tried to connect. Success is written only if it is a change, so that loops do not contend for the field.
     */
    void setReached(boolean reached, long nanos) {
        if (!reached) {
            unreachedNanos = nanos;
            unreached = true;
        } else if (unreached) {
            unreached = false;
        }
    }

    /** Whether the balancer chooses it at present. */
    public boolean isChosen() {
        return chosen;
    }

    /** Whether requests that wait for it may use it: it takes those of its sessions, or no endpoint is chosen. */
    public boolean isUsed() {
        return takesSessions() || alone;
    }

    /** Whether requests of its sessions go there: it is chosen, or it drains and keeps them. */
    public boolean takesSessions() {
        return chosen || keepingSessions;
    }

    /** Sets whether it drains and keeps its sessions; returns whether that is a change. */
    boolean setKeepingSessions(boolean now) {
        boolean changed = keepingSessions != now;
        keepingSessions = now;
        return changed;
    }

    /** Whether it may keep its sessions while it drains: nothing else speaks against it. */
    boolean mayKeepSessions() {
        return draining && sessionDrain != null && failedCheck == null && !ejection.isLasting();
    }

    void setChosen(boolean now, boolean noneIs) {
        if (chosen != now) {
            chosen = now;
        }
        if (alone != noneIs) {
            alone = noneIs;
        }
    }

    /**
     * Whether it gets no requests only because it was ejected. A request goes there rather than fail because no endpoint in
     * service can be reached.
     */
    public boolean isSpare() {
        return spare;
    }

    /** Whether its checks have failed for longer than this. */
    public boolean isUnhealthyForLonger(long millis, long nanos) {
        return unhealthy && nanos - unhealthyNanos > TimeUnit.MILLISECONDS.toNanos(millis);
    }

    void setFailedCheck(@Nullable String failure, long nanos) {
        failedCheck = failure;
        if (failure == null) {
            unhealthy = false;
        } else if (!unhealthy) {
            unhealthyNanos = nanos;
            unhealthy = true;
        }
    }

    /** Takes over since when checks fail. */
    void inheritFailedCheck(@Nullable String failure, Host before) {
        setFailedCheck(failure, before.unhealthyNanos);
    }

    void setSpare(boolean now) {
        if (spare != now) {
            spare = now;
        }
    }

    /** It has answered a request. Writes at most once in a millisecond, so that loops do not contend for the field. */
    public void onHeard(long nanos) {
        if (!heard || nanos - heardNanos > HEARD_NANOS) {
            heardNanos = nanos;
            heard = true;
        }
    }

    /** Whether it has answered a request after that time. */
    public boolean isHeardSince(long nanos) {
        return heard && heardNanos - nanos > 0;
    }

    /** Whether a request that it has reset was sent after the last reset that counted; then this one counts. */
    boolean isNewReset(long sentNanos, long nanos) {
        long before = resetNanos.get();
        boolean sentLater = !hasReset || sentNanos - before >= 0;
        boolean isNew = sentLater && resetNanos.compareAndSet(before, nanos); // else another event loop was faster
        hasReset |= isNew;
        return isNew;
    }

    /** Whether its last request failed, as far as is known; false without outlier detection. */
    public boolean isFailing() {
        return failures.getOpaque() != 0;
    }

    /** Forgets failures, as after a success; writes only if there were some. */
    void forgive() {
        if (failures.getOpaque() != 0) {
            failures.set(0);
        }
    }

    public boolean isInService() {
        return isWell() && !ejection.isLasting();
    }

    boolean isWell() {
        return !draining && failedCheck == null;
    }

    @Override
    public String toString() {
        return endpoint.toString();
    }
}
