package dev.gateway.pool;

import dev.gateway.net.tls.ClientTls;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.NamedByRequest;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.UpstreamSettings;
import dev.gateway.upstream.UpstreamSettings.Protocol;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * What the connections of one upstream share between event loops: TLS, what is known of endpoints, and permits for
 * connections. Safe from any thread.
 */
final class SharedUpstream {
    final Upstream upstream;
    final UpstreamSettings settings;
    final Permits permits;
    private volatile UpstreamTls tls; // renewed, never added or taken away

    private volatile boolean http2Seen;

    private final Map<Endpoint.Address, LearnedIdleTimeout> idleTimeouts = new ConcurrentHashMap<>();

    private final List<Loop> loops = new CopyOnWriteArrayList<>();

    /** The upstream's pools on one event loop; called on that loop, except for {@link #loop}. */
    interface Loop extends Permits.Holder {
        /** HTTP/2 was spoken where only a handshake could tell. */
        void onHttp2Known();

        /** Other endpoints are chosen than before, or the upstream has others. */
        void onChoice();
    }

    /**
     * Reads the upstream's certificates.
     *
     * @param predecessors upstreams of that name so far, whose endpoints are as patient as they were
     */
    SharedUpstream(Upstream upstream, List<SharedUpstream> predecessors) throws IOException, GeneralSecurityException {
        this.upstream = upstream;
        this.settings = upstream.settings();
        this.permits = new Permits(upstream, loops);
        this.tls = UpstreamTls.of(settings);
        upstream.health().onChoice(chosen -> onChoice()); // forgets endpoints that the upstream does not have
        predecessors.forEach(predecessor -> predecessor.idleTimeouts.forEach(idleTimeouts::putIfAbsent));
    }

    /** Returns what is known of an endpoint's idle timeout; of one that requests name, nothing that others know. */
    LearnedIdleTimeout idleTimeout(Endpoint endpoint) {
        return endpoint.index() == NamedByRequest.INDEX
                ? new LearnedIdleTimeout()
                : idleTimeouts.computeIfAbsent(endpoint.address(), unknown -> new LearnedIdleTimeout());
    }

    /** Returns what secures a connection that is made now, null for cleartext; not to be kept. */
    @Nullable
    ClientTls tls(DialTarget target) {
        return tls.of(target.parent());
    }

    List<X509Certificate> certificates() {
        return tls.certificates();
    }

    boolean isSecured() {
        return settings.tls() != null;
    }

    /** Reads certificates again; returns what was used before, to be closed. */
    UpstreamTls renewTls() throws IOException, GeneralSecurityException {
        UpstreamTls before = tls;
        tls = UpstreamTls.of(settings);
        return before;
    }

    /** Whether a request for an endpoint may go to others, which may come later: not one that named it. */
    boolean isFlexible(Endpoint endpoint) {
        return endpoint.index() != NamedByRequest.INDEX;
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
            for (Loop each : loops) {
                if (each.loop().inEventLoop()) {
                    each.onHttp2Known();
                } else {
                    each.loop().execute(each::onHttp2Known);
                }
            }
        }
    }

    /** From now on that one has connections of the upstream, too. */
    void add(Loop loop) {
        loops.add(loop);
    }

    /** Other endpoints are chosen than before; called by whatever thread. */
    private void onChoice() {
        Set<Endpoint.Address> present = new HashSet<>();
        upstream.endpoints().forEach(endpoint -> present.add(endpoint.address()));
        idleTimeouts.keySet().retainAll(present);
        permits.onChoice();
        loops.forEach(each -> each.loop().execute(each::onChoice)); // never on this stack: something is locked
        permits.askAll(); // not sooner, so that what is idle is used by requests of its loop
    }

    void close() {
        tls.close();
    }
}
