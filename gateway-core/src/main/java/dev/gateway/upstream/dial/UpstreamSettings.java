package dev.gateway.upstream.dial;

import dev.gateway.config.upstream.UpstreamConfig.CircuitBreaker;
import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.config.upstream.UpstreamConfig.Timeouts;
import dev.gateway.config.upstream.UpstreamConfig.Tls;
import dev.gateway.format.Durations;
import org.jspecify.annotations.Nullable;

/** The policy of an upstream's connections, its times in milliseconds, 0 for no limit. Immutable. */
public final class UpstreamSettings {
    private final Protocol protocol;
    private final @Nullable Tls tls;
    private final CircuitBreaker limits;
    private final long connectMillis;
    private final long tlsHandshakeMillis;
    private final long poolAcquireMillis;
    private final long responseHeadersMillis;
    private final long idleMillis;
    private final long maxLifetimeMillis;
    private final DialSettings dialSettings;

    /**
     * Makes settings.
     *
     * @param tls how connections are secured, null for cleartext
     * @param limits of all event loops together
     * @param dialSettings how connections are made
     */
    public UpstreamSettings(
            Protocol protocol, @Nullable Tls tls, CircuitBreaker limits, Timeouts timeouts, DialSettings dialSettings) {
        this.protocol = protocol;
        this.tls = tls;
        this.limits = limits;
        this.connectMillis = Durations.millis(timeouts.connect());
        this.tlsHandshakeMillis = Durations.millis(timeouts.tlsHandshake());
        this.poolAcquireMillis = Durations.millis(timeouts.poolAcquire());
        this.responseHeadersMillis = Durations.millis(timeouts.responseHeaders());
        this.idleMillis = Durations.millis(timeouts.idle());
        this.maxLifetimeMillis = Durations.millis(timeouts.maxLifetime());
        this.dialSettings = dialSettings;
    }

    /** Returns the protocol that the gateway speaks to endpoints. */
    public Protocol protocol() {
        return protocol;
    }

    /** Returns how connections are secured, null for cleartext. */
    public @Nullable Tls tls() {
        return tls;
    }

    /** Returns what all event loops together may have open. */
    public CircuitBreaker limits() {
        return limits;
    }

    /** Returns how long connecting may take, name resolution not included. */
    public long connectMillis() {
        return connectMillis;
    }

    /** Returns how long a handshake of TLS may take. */
    public long tlsHandshakeMillis() {
        return tlsHandshakeMillis;
    }

    /** Returns how long a request may wait for a connection. */
    public long poolAcquireMillis() {
        return poolAcquireMillis;
    }

    /** Returns the time from the request's end, or from the last progress of its body, to the response's head. */
    public long responseHeadersMillis() {
        return responseHeadersMillis;
    }

    /** Returns how long an unused connection is kept. */
    public long idleMillis() {
        return idleMillis;
    }

    /** Returns the age after which a connection takes no new request; jittered, so that not all end at once. */
    public long maxLifetimeMillis() {
        return maxLifetimeMillis;
    }

    /** Returns how connections are made. */
    public DialSettings dialSettings() {
        return dialSettings;
    }

    /** Whether TLS asks for, and verifies, the host of each request. */
    public boolean followsHost() {
        return tls != null && tls.followsHost();
    }
}
