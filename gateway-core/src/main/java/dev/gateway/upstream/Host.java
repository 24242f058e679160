package dev.gateway.upstream;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Host. The live state of one endpoint: what is in flight to it, and how it is. One object per address and upstream, which
 * all event loops share; on the path of a request nothing of it is locked.
 */
public final class Host {
    /** For how long a failed connection says something of an endpoint to which nobody has connected since. */
    private static final long LATELY_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final Endpoint endpoint;
    private Share connections = Share.unlimited();
    private Share requests = Share.unlimited();
    private final Latency latency = new Latency();

    /** Failures in a row. */
    final AtomicInteger failures = new AtomicInteger();

    /** Whether the last connection tried could not be made. */
    private volatile boolean unreached;

    /** When that was; of use while it is unreached. */
    private volatile long unreachedNanos;

    /** Whether the balancer chooses it at present. */
    private volatile boolean chosen = true;

    // Guarded by the Health that it is part of.
    boolean draining;
    final Ejection ejection = new Ejection();

    /** Why its checks fail, null if they do not. */
    @Nullable
    String failedCheck;

    Host(Endpoint endpoint) {
        this.endpoint = endpoint;
    }

    /** Counts against these from now on; called before anybody uses it. */
    Host limitedBy(Share connectionsShare, Share requestsShare) {
        connections = connectionsShare;
        requests = requestsShare;
        return this;
    }

    /** Returns whose state this is. */
    public Endpoint endpoint() {
        return endpoint;
    }

    /** Returns its share of requests at present, relative to that of its siblings; more than 0. */
    public double weight() {
        return endpoint.weight();
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

    /** Whether a connection could not be made lately, and none could since. */
    boolean isUnreachedLately(long nanos) {
        return unreached && nanos - unreachedNanos < LATELY_NANOS;
    }

    /** Takes over whether a connection could be made, and how long answers take. */
    void inheritReach(Host before) {
        latency.inherit(before.latency);
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

    void setChosen(boolean now) {
        if (chosen != now) {
            chosen = now;
        }
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
