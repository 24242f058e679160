package dev.gateway.pool;

import dev.gateway.net.ClientTls;
import dev.gateway.net.ClientTlsSettings;
import dev.gateway.upstream.Limit;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.UpstreamSettings;
import dev.gateway.upstream.UpstreamSettings.Protocol;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * What the connections of one upstream share between event loops: TLS, and the limit of connections with those who wait for
 * it. Safe from any thread.
 */
final class SharedUpstream {
    final Upstream upstream;
    final UpstreamSettings settings;
    private volatile @Nullable ClientTls tls; // renewed, never added or taken away

    /** Those that have requests but may not connect; each at most once. */
    private final Queue<Claimant> starving = new ConcurrentLinkedQueue<>();

    /** How many of them have no connection at all. */
    private final AtomicInteger destitute = new AtomicInteger();

    private final List<Claimant> claimants = new CopyOnWriteArrayList<>();

    /** Reads the upstream's certificates. */
    SharedUpstream(Upstream upstream) throws IOException, GeneralSecurityException {
        this.upstream = upstream;
        this.settings = upstream.settings();
        this.tls = settings.tls() == null ? null : new ClientTls(tls(settings, settings.tls()));
    }

    /** Returns what secures a connection that is made now, null for cleartext; not to be kept. */
    @Nullable
    ClientTls tls() {
        return tls;
    }

    boolean isSecured() {
        return settings.tls() != null;
    }

    /** Reads the upstream's certificates again; returns what was used before, to be closed, or null for cleartext. */
    @Nullable
    ClientTls renewTls() throws IOException, GeneralSecurityException {
        ClientTls before = tls;
        if (settings.tls() != null) {
            tls = new ClientTls(tls(settings, settings.tls()));
        }
        return before;
    }

    private static ClientTlsSettings tls(UpstreamSettings settings, UpstreamSettings.Tls tls) {
        List<String> alpn =
                switch (settings.protocol()) {
                    case AUTO -> List.of("h2", "http/1.1");
                    case H2, H2C -> List.of("h2");
                    case HTTP1 -> List.of("http/1.1");
                };
        return new ClientTlsSettings(
                tls.verify(),
                tls.caFile(),
                tls.serverName(),
                tls.certFile(),
                tls.keyFile(),
                tls.protocols(),
                alpn,
                settings.tlsHandshakeMillis());
    }

    /** Whether only a handshake can tell which protocol is spoken. */
    boolean isNegotiated() {
        return settings.protocol() == Protocol.AUTO && isSecured();
    }

    boolean isHttp2() {
        return settings.protocol() == Protocol.H2 || settings.protocol() == Protocol.H2C;
    }

    void add(Claimant claimant) {
        claimants.add(claimant);
    }

    void remove(Claimant claimant) {
        claimants.remove(claimant);
    }

    /**
     * Takes the right to one more connection. If there is none, the claimant is called back once by
     * {@link Claimant#onPermit} as soon as there may be one, and others are asked to give up a connection that they
     * do not use.
     */
    boolean tryAcquire(Claimant claimant) {
        Limit limit = upstream.connections();
        if (limit.tryAcquire()) {
            return true;
        }
        claimant.destitute = claimant.hasNone(); // seen by whoever takes it from the queue
        if (claimant.destitute) {
            destitute.incrementAndGet();
        }
        starving.add(claimant);
        // Somebody may have given one back before this one was in the queue to be told.
        if (limit.tryAcquire()) {
            if (forget(claimant)) {
                return true;
            }
            release(); // it is being called back already
            return false;
        }
        for (Claimant other : claimants) {
            if (other != claimant) {
                other.onLoop(other::giveUpOne);
            }
        }
        return false;
    }

    /** Gives the right to one connection back. */
    void release() {
        upstream.connections().release();
        wakeOne();
    }

    /** Tells whoever has waited longest that it may try again. */
    void wakeOne() {
        Claimant claimant = starving.poll();
        if (claimant != null) {
            taken(claimant);
            claimant.onLoop(claimant::onPermit);
        }
    }

    /**
     * Somebody who waits for a permit has no use for one any more.
     *
     * @return false if it is being called back already
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

    /** Whether somebody without any connection waits for one: those who have some must share, however busy they are. */
    boolean isDestitute() {
        return destitute.get() > 0;
    }

    /** Whether anybody would rather have a connection than have it kept idle. */
    boolean isStarving() {
        return !starving.isEmpty();
    }

    void close() {
        ClientTls last = tls;
        if (last != null) {
            last.close();
        }
    }
}
