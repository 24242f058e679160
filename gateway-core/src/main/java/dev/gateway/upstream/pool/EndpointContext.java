package dev.gateway.upstream.pool;

import dev.gateway.upstream.Host;
import java.util.concurrent.TimeUnit;

/**
 * The context of the connections of one pool: their endpoint, and what is known of it. Confined to the pool's event loop.
 */
final class EndpointContext extends UpstreamContext {
    final DialTarget target;
    final Host host;
    final LearnedIdleTimeout idleTimeout;

    /** Whether connections speak HTTP/1.1 only, even if the endpoint offers HTTP/2. */
    final boolean http1Only;

    /** Whether a request that cannot be connected here may go to another endpoint of the upstream. */
    final boolean movable;

    /** Whether requests may go to any chosen endpoint of the upstream, and so wait for all of them. */
    final boolean flexible;

    EndpointContext(UpstreamContext upstream, DialTarget target, boolean http1Only) {
        this(upstream, target, upstream.shared.upstream.host(target.endpoint()), http1Only);
    }

    /** Makes the context of an endpoint with this live state, even if the upstream has just removed the endpoint. */
    EndpointContext(UpstreamContext upstream, DialTarget target, Host host, boolean http1Only) {
        super(upstream.resources, upstream.shared, upstream.observer);
        this.target = target;
        this.host = host;
        this.idleTimeout = shared.idleTimeout(target.endpoint());
        this.http1Only = http1Only;
        this.movable = !target.isNamed() && shared.isFlexible(target.endpoint());
        this.flexible = movable && !http1Only;
    }

    /** Whether the next connection speaks HTTP/1.1 although the endpoint may offer HTTP/2. */
    boolean takesHttp1Only() {
        return http1Only || shared.requiresHttp1(target.endpoint());
    }

    boolean isSecured() {
        return shared.isSecured() || target.isSecured();
    }

    /** The endpoint has not answered on a connection for so many seconds; its requests must be told after this. */
    void onSilent(String why, int seconds) {
        long since = now() - TimeUnit.SECONDS.toNanos(seconds);
        shared.upstream.health().onSilent(target.endpoint(), since, why);
        shared.onSilent(target.endpoint(), since);
    }

    /** This number of requests to the endpoint have ended or were cancelled. */
    void releaseRequests(int count) {
        for (int i = 0; i < count; i++) {
            host.requests().release();
        }
    }
}
