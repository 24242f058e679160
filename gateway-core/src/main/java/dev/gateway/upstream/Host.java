package dev.gateway.upstream;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Host. The live state of one endpoint: what is in flight to it, and how it is. One object per address and upstream, which
 * all event loops share; on the path of a request nothing of it is locked.
 */
public final class Host {
    /** For how long a failed connection says something of an endpoint to which nobody has connected since. */
    private static final long LATELY_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** How exactly it is known when it answered. */
    private static final long HEARD_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Endpoint endpoint;
    private volatile EndpointSpec spec;
    private Share connections = Share.unlimited();
    private Share requests = Share.unlimited();
    private final Latency latency = new Latency();

    /** Failures in a row. */
    final AtomicInteger failures = new AtomicInteger();

    /** Whether the last connection tried could not be made. */
    private volatile boolean unreached;

    /** Whether it gave the last request that it took no answer. */
    private volatile boolean unanswered;

    /** When the last connection tried could not be made; of use while it is unreached. */
    private volatile long unreachedNanos;

    /** Whether the balancer chooses it at present. */
    private volatile boolean chosen = true;

    /** Whether the balancer chooses none at all, so that who waits here cannot do better elsewhere. */
    private volatile boolean alone;

    /** Whether it is no endpoint of its upstream any more. */
    private volatile boolean gone;

    /** What became of requests since the last review of success rates; counted only where there are such reviews. */
    private final LongAdder served = new LongAdder();

    private final LongAdder failed = new LongAdder();
    private volatile double successRate = Double.NaN;

    /** Which part of its share it gets. */
    final Ramp ramp = new Ramp();

    /** When it answered, roughly. */
    private volatile long heardNanos;

    /** Whether it has answered at all. */
    private volatile boolean heard;

    // Guarded by the Health that it is part of.
    boolean draining;
    final Ejection ejection = new Ejection();

    /** Why its checks fail, null if they do not. */
    @Nullable
    String failedCheck;

    Host(Endpoint endpoint) {
        this.endpoint = endpoint;
        this.spec = EndpointSpec.of(endpoint);
    }

    /** Counts against these from now on; called before anybody uses it. */
    void limitBy(Share connectionsShare, Share requestsShare) {
        connections = connectionsShare;
        requests = requestsShare;
    }

    /** Counts what leads to it against no limit until limits are divided: requests may come a moment sooner. */
    void beginUndivided() {
        connections.keep(Integer.MAX_VALUE, Integer.MAX_VALUE);
        requests.keep(Integer.MAX_VALUE, Integer.MAX_VALUE);
    }

    /** It is no endpoint of its upstream any more; what leads to it does not count against limits, as it gets nothing new. */
    void leave() {
        chosen = false;
        alone = false;
        gone = true;
        draining = true;
        connections.leave();
        requests.leave();
    }

    /** Whether it is no endpoint of its upstream any more: what has begun there ends there, and nothing begins. */
    public boolean isGone() {
        return gone;
    }

    void setSpec(EndpointSpec wanted) {
        spec = wanted;
    }

    /** Returns what is wanted of it at present. */
    public EndpointSpec spec() {
        return spec;
    }

    /** Returns whose state this is. */
    public Endpoint endpoint() {
        return endpoint;
    }

    /** Returns its share of requests at present, relative to that of its siblings; more than 0. */
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

    /** Returns its share of the limit of connections, which the pools keep. */
    public Share connections() {
        return connections;
    }

    /** Returns its share of the limit of requests in flight, which the pools keep. */
    public Share requests() {
        return requests;
    }

    /** Returns how long its answers take, as far as its balancer asks for that. */
    public Latency latency() {
        return latency;
    }

    /** Whether the last connection tried could not be made. */
    public boolean isUnreached() {
        return unreached;
    }

    /** The endpoint took a request and answered it, or did not. Written only if it is new, as with connections. */
    void setUnanswered(boolean now) {
        if (unanswered != now) {
            unanswered = now;
        }
    }

    /** Whether nothing came back the last time: neither a connection nor an answer. */
    boolean isUnresponsive() {
        return unreached || unanswered;
    }

    /** Whether a connection could not be made lately, and none could since. */
    boolean isUnreachedLately(long nanos) {
        return unreached && nanos - unreachedNanos < LATELY_NANOS;
    }

    /** Takes over whether a connection could be made, how long answers take, and how far its slow start is. */
    void inheritReach(Host before) {
        latency.inherit(before.latency);
        ramp.inherit(before.ramp);
        if (before.unreached) {
            setReached(false, before.unreachedNanos);
        }
    }

    /** A connection was tried. What goes well is written only if it is new, so that loops do not contend for it. */
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

    /** Whether requests that wait for it may use it: it is chosen, or there is nothing better. */
    public boolean isUsed() {
        return chosen || alone;
    }

    void setChosen(boolean now, boolean noneIs) {
        if (chosen != now) {
            chosen = now;
        }
        if (alone != noneIs) {
            alone = noneIs;
        }
    }

    /** It has answered a request. Written at most a few times a second, so that loops do not contend for it. */
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

    boolean isInService() {
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
