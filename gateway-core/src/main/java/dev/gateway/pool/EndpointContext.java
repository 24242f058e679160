package dev.gateway.pool;

import dev.gateway.upstream.Host;

/**
 * The context of the connections of one pool: the endpoint they lead to, and what is known of it. Confined to the pool's
 * event loop.
 */
final class EndpointContext extends UpstreamContext {
    final DialTarget target;
    final Host host;
    final LearnedIdleTimeout idleTimeout;

    /** Whether nothing else than HTTP/1.1 is to be spoken, whatever the endpoint could. */
    final boolean http1Only;

    /** Whether requests may go to any endpoint of the upstream that is chosen, so that they can wait for all. */
    final boolean flexible;

    EndpointContext(UpstreamContext upstream, DialTarget target, boolean http1Only) {
        this(upstream, target, upstream.shared.upstream.host(target.endpoint()), http1Only);
    }

    /** Makes that of an endpoint whose live state is known, so that it does not matter whether it has just gone. */
    EndpointContext(UpstreamContext upstream, DialTarget target, Host host, boolean http1Only) {
        super(upstream.resources, upstream.shared, upstream.observer);
        this.target = target;
        this.host = host;
        this.idleTimeout = shared.idleTimeout(target.endpoint());
        this.http1Only = http1Only;
        this.flexible = !http1Only && shared.isFlexible(target.endpoint());
    }

    boolean isSecured() {
        return shared.isSecured() || target.isSecured();
    }

    /** So many requests to the endpoint have ended, or were given up. */
    void releaseRequests(int count) {
        for (int i = 0; i < count; i++) {
            host.requests().release();
        }
    }
}
