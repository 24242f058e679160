package dev.gateway.pool;

import dev.gateway.net.ClientTls;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.NamedByRequest;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.UpstreamSettings;
import dev.gateway.upstream.UpstreamSettings.Protocol;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * What the connections of one upstream share between event loops: TLS, and the limit of connections with those who wait for
 * it. Safe from any thread.
 */
final class SharedUpstream {
    /** How much longer than here somebody must have waited elsewhere to be given a connection that it needs a new one for. */
    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    final Upstream upstream;
    final UpstreamSettings settings;
    private volatile Securing securing; // renewed, never added or taken away

    /** Those that have requests but may not connect; each at most once. */
    private final Queue<Claimant> starving = new ConcurrentLinkedQueue<>();

    /** How many of them have no connection at all. */
    private final AtomicInteger destitute = new AtomicInteger();

    private volatile boolean http2Seen;

    private final List<KeepAlive> keepAlives; // by endpoint

    private final List<Claimant> claimants = new CopyOnWriteArrayList<>();

    /**
     * Reads the upstream's certificates.
     *
     * @param formers upstreams of that name so far, whose endpoints are as patient as they were
     */
    SharedUpstream(Upstream upstream, List<SharedUpstream> formers) throws IOException, GeneralSecurityException {
        this.upstream = upstream;
        this.settings = upstream.settings();
        this.securing = Securing.of(settings);
        Map<Endpoint.Address, KeepAlive> known = new HashMap<>();
        for (SharedUpstream former : formers) {
            former.upstream
                    .endpoints()
                    .forEach(each -> known.putIfAbsent(each.address(), former.keepAlives.get(each.index())));
        }
        this.keepAlives = upstream.endpoints().stream()
                .map(each -> known.getOrDefault(each.address(), new KeepAlive()))
                .toList();
    }

    /** Returns what is known of an endpoint's idle timeout; of one that requests name, nothing that others know. */
    KeepAlive keepAlive(Endpoint endpoint) {
        return endpoint.index() == NamedByRequest.INDEX ? new KeepAlive() : keepAlives.get(endpoint.index());
    }

    /** Returns what secures a connection that is made now, null for cleartext; not to be kept. */
    @Nullable
    ClientTls tls(Way way) {
        return securing.of(way.parent());
    }

    List<X509Certificate> certificates() {
        return securing.certificates();
    }

    boolean isSecured() {
        return settings.tls() != null;
    }

    /** Reads certificates again; returns what was used before, to be closed. */
    Securing renewTls() throws IOException, GeneralSecurityException {
        Securing before = securing;
        securing = Securing.of(settings);
        return before;
    }

    /** Whether only a handshake can tell which protocol is spoken. */
    boolean isNegotiated() {
        return settings.protocol() == Protocol.AUTO && isSecured();
    }

    boolean isHttp2() {
        return settings.protocol() == Protocol.H2 || settings.protocol() == Protocol.H2C;
    }

    /**
     * Whether an endpoint is taken for one that speaks HTTP/2 before it was asked: because nothing else is spoken, or
     * because some endpoint did when only the handshake could tell.
     */
    boolean expectsHttp2() {
        return isHttp2() || http2Seen;
    }

    /** A connection speaks HTTP/2. */
    void onHttp2() {
        if (!http2Seen && isNegotiated()) {
            http2Seen = true;
            for (Claimant each : claimants) {
                each.onLoop(each::onHttp2Known);
            }
        }
    }

    void add(Claimant claimant) {
        claimants.add(claimant);
    }

    void remove(Claimant claimant) {
        claimants.remove(claimant);
    }

    /** Takes the right to one more connection if there is one that nobody waits for. */
    boolean tryAcquire() {
        return starving.isEmpty() && upstream.connections().tryAcquire();
    }

    /**
     * Takes the right to one more connection. If there is none, or others wait for one, the claimant is given it later
     * by {@link Claimant#onPermit}, and others are asked to give up a connection that they do not use.
     */
    boolean tryAcquire(Claimant claimant) {
        if (tryAcquire()) {
            return true;
        }
        claimant.destitute = claimant.hasNone();
        claimant.starvingSinceNanos = claimant.now();
        if (claimant.destitute) {
            destitute.incrementAndGet();
        }
        starving.add(claimant);
        handOut(); // somebody may have given one back before this one was in the queue
        askOthers(claimant);
        return false;
    }

    /** Takes the right to a connection whatever the limit says; others give up what they do not use instead. */
    void acquireBeyond(Claimant claimant) {
        upstream.connections().acquireBeyond();
        if (isExceeded()) {
            askOthers(claimant);
        }
    }

    private void askOthers(Claimant claimant) {
        for (Claimant other : claimants) {
            if (other != claimant) {
                other.onLoop(other::giveUpOne);
            }
        }
    }

    /** Gives the right to one connection back. */
    void release() {
        upstream.connections().release();
        handOut();
    }

    /** Gives the permits that there are to those who wait, in their order: nobody who comes now gets one before them. */
    private void handOut() {
        while (!starving.isEmpty() && upstream.connections().tryAcquire()) {
            Claimant next = starving.poll();
            if (next == null) {
                upstream.connections().release(); // and look again: who came meanwhile may have found none
            } else {
                taken(next);
                next.loopPools.loop.execute(next::onPermit); // never on this stack, which may be its own
            }
        }
    }

    /**
     * Somebody who waits for a permit has no use for one any more.
     *
     * @return false if it is being given one already
     */
    boolean forget(Claimant claimant) {
        boolean removed = starving.remove(claimant);
        if (removed) {
            taken(claimant);
        }
        return removed;
    }

    private void taken(Claimant claimant) {
        if (claimant.destitute) {
            destitute.decrementAndGet();
        }
    }

    /**
     * Whether a connection that has just become free is for others, though somebody waits for it here: for those who
     * have none at all, and for those who have waited much longer. Less than that would only move connections about.
     *
     * @param sinceNanos when the one here began to wait
     */
    boolean isOwedToOthers(Claimant claimant, long sinceNanos) {
        if (destitute.get() > 0) {
            return true;
        }
        Claimant first = starving.peek();
        return first != null && first != claimant && sinceNanos - first.starvingSinceNanos > PATIENCE_NANOS;
    }

    /** Whether anybody would rather have a connection than have it kept idle. */
    boolean isStarving() {
        return !starving.isEmpty();
    }

    /** Whether there are more connections than the limit allows. */
    boolean isExceeded() {
        return upstream.connections().isExceeded();
    }

    void close() {
        securing.close();
    }
}
