package dev.gateway.upstream.pool;

import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.net.tls.ClientTls;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.dial.UpstreamSettings;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What event loops share about the connections of one upstream: TLS, what is known of endpoints, and permits. Safe from any
 * thread.
 */
final class SharedUpstream {
    private static final Logger log = LoggerFactory.getLogger(SharedUpstream.class);

    final Upstream upstream;
    final UpstreamSettings settings;
    final Permits permits;
    final ServerNames names = new ServerNames();
    private volatile UpstreamTls tls; // replaced when certificates are renewed

    private volatile boolean http2Seen;

    private final Map<Endpoint.Address, LearnedIdleTimeout> idleTimeouts = new ConcurrentHashMap<>();

    /** Endpoints whose next connections speak HTTP/1.1, because they have asked for that over HTTP/2. */
    private final Set<Endpoint.Address> http1Required = ConcurrentHashMap.newKeySet();

    private final List<Loop> loops = new CopyOnWriteArrayList<>();

    /** The upstream's pools on one event loop; called on that loop, except for {@link #loop}. */
    interface Loop extends Permits.Holder {
        /** A handshake has shown that the upstream speaks HTTP/2. */
        void onHttp2Known();

        /** The endpoints of the upstream have changed, or which of them are chosen. */
        void onChoice();

        /** Closes idle connections so that another name has room; returns whether one has. */
        default boolean giveUpName() {
            return false;
        }

        /** An endpoint was found not to answer. */
        void onUnresponsive(Host host, String why);

        /** An endpoint has not answered on a connection since this time; others that were idle as long are in doubt. */
        void onSilent(Endpoint endpoint, long sinceNanos);
    }

    /**
     * Reads the upstream's certificates.
     *
     * @param predecessors earlier upstreams of this name; what they have learned of idle timeouts is still valid
     */
    SharedUpstream(Upstream upstream, List<SharedUpstream> predecessors) throws IOException, GeneralSecurityException {
        this.upstream = upstream;
        this.settings = upstream.settings();
        this.permits = new Permits(upstream, loops);
        this.tls = UpstreamTls.of(settings);
        upstream.health().onChoice(chosen -> onChoice()); // forgets endpoints that the upstream does not have
        upstream.health()
                .onUnresponsive((host, why) -> loops.forEach(each -> each.loop()
                        .execute(() -> each.onUnresponsive(host, why)))); // after what the choice has put there
        predecessors.forEach(predecessor -> predecessor.idleTimeouts.forEach(idleTimeouts::putIfAbsent));
    }

    /** Returns what is known of an endpoint's idle timeout. Pools of an endpoint that requests name do not share it. */
    LearnedIdleTimeout idleTimeout(Endpoint endpoint) {
        return endpoint.index() == Endpoint.NAMED_INDEX
                ? new LearnedIdleTimeout()
                : idleTimeouts.computeIfAbsent(endpoint.address(), unknown -> new LearnedIdleTimeout());
    }

    /** An endpoint has not answered on a connection since this time, by the clock of event loops. */
    void onSilent(Endpoint endpoint, long sinceNanos) {
        onEach(loop -> loop.onSilent(endpoint, sinceNanos)); // here, before its requests look for another connection
    }

    /** Runs a task on each event loop; on the current one at once. */
    private void onEach(Consumer<Loop> task) {
        for (Loop each : loops) {
            if (each.loop().inEventLoop()) {
                task.accept(each);
            } else {
                each.loop().execute(() -> task.accept(each));
            }
        }
    }

    /** Returns TLS for a new connection, null for cleartext. The caller must not keep it. */
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

    /** Reads certificates again; returns the former TLS, which the caller closes. */
    UpstreamTls renewTls() throws IOException, GeneralSecurityException {
        UpstreamTls before = tls;
        tls = UpstreamTls.of(settings);
        return before;
    }

    /** Whether a request for an endpoint may go to another one of the upstream. Not if the request named the endpoint. */
    boolean isFlexible(Endpoint endpoint) {
        return endpoint.index() != Endpoint.NAMED_INDEX;
    }

    /** Whether only a handshake can show which protocol an endpoint speaks. */
    boolean isNegotiated() {
        return settings.protocol() == Protocol.AUTO && isSecured();
    }

    /**
     * An endpoint has refused a request because it takes it by HTTP/1.1 only. Apache does so where a path asks for a client
     * certificate, IIS where one asks for a login of Windows.
     *
     * @return whether its next connections will speak HTTP/1.1, which the configuration may rule out
     */
    boolean requireHttp1(Endpoint endpoint) {
        if (!isNegotiated() || endpoint.index() == Endpoint.NAMED_INDEX) {
            return false;
        }
        if (http1Required.add(endpoint.address())) {
            log.info("Endpoint {} of upstream {} requires HTTP/1.1, and gets no HTTP/2 any more", endpoint, upstream);
        }
        return true;
    }

    /** Whether an endpoint has said that it requires HTTP/1.1. */
    boolean requiresHttp1(Endpoint endpoint) {
        return !http1Required.isEmpty() && http1Required.contains(endpoint.address());
    }

    boolean isHttp2() {
        return settings.protocol() == Protocol.H2 || settings.protocol() == Protocol.H2C;
    }

    /**
     * Whether to assume that an endpoint speaks HTTP/2 before its first handshake: because the configuration allows nothing
     * else, or because another endpoint of the upstream does.
     */
    boolean expectsHttp2() {
        return isHttp2() || http2Seen;
    }

    /** A connection speaks HTTP/2. */
    void onHttp2() {
        if (!http2Seen && isNegotiated()) {
            http2Seen = true;
            onEach(Loop::onHttp2Known);
        }
    }

    /** Returns the pools of the other event loops. */
    Iterator<Loop> loopsBut(Loop here) {
        return loops.stream().filter(each -> each != here).iterator();
    }

    /** Adds the pools of an event loop. */
    void add(Loop loop) {
        loops.add(loop);
    }

    /** The endpoints have changed, or which of them are chosen; called on any thread. */
    private void onChoice() {
        Set<Endpoint.Address> present = new HashSet<>();
        upstream.endpoints().forEach(endpoint -> present.add(endpoint.address()));
        idleTimeouts.keySet().retainAll(present);
        http1Required.retainAll(present);
        permits.onChoice();
        loops.forEach(each -> each.loop().execute(each::onChoice)); // never on this stack: the caller holds a lock
        permits.askAll(); // after onChoice, so that requests of its own loop use an idle connection first
    }

    void close() {
        tls.close();
    }
}
