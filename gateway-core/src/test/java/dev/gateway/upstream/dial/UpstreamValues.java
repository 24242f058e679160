package dev.gateway.upstream.dial;

import dev.gateway.config.upstream.UpstreamConfig.CircuitBreaker;
import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.config.upstream.UpstreamConfig.Timeouts;
import dev.gateway.config.upstream.UpstreamConfig.Tls;
import dev.gateway.config.value.Position;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Collects the settings of an upstream's connections. What is not set has no limit; the protocol is AUTO in cleartext. */
public final class UpstreamValues {
    private Protocol protocol = Protocol.AUTO;
    private @Nullable Tls tls;
    private int maxConnections;
    private int maxPendingRequests;
    private int maxRequests;
    private long connectMillis;
    private long tlsHandshakeMillis;
    private long poolAcquireMillis;
    private long responseHeadersMillis;
    private long idleMillis;
    private long maxLifetimeMillis;
    private DialSettings dialSettings = DialSettings.DIRECT;

    private UpstreamValues() {}

    public static UpstreamValues builder() {
        return new UpstreamValues();
    }

    public UpstreamValues protocol(Protocol spoken) {
        protocol = spoken;
        return this;
    }

    public UpstreamValues tls(@Nullable Tls secured) {
        tls = secured;
        return this;
    }

    public UpstreamValues maxConnections(int most) {
        maxConnections = most;
        return this;
    }

    public UpstreamValues maxPendingRequests(int most) {
        maxPendingRequests = most;
        return this;
    }

    public UpstreamValues maxRequests(int most) {
        maxRequests = most;
        return this;
    }

    public UpstreamValues connectMillis(long millis) {
        connectMillis = millis;
        return this;
    }

    public UpstreamValues tlsHandshakeMillis(long millis) {
        tlsHandshakeMillis = millis;
        return this;
    }

    public UpstreamValues poolAcquireMillis(long millis) {
        poolAcquireMillis = millis;
        return this;
    }

    public UpstreamValues responseHeadersMillis(long millis) {
        responseHeadersMillis = millis;
        return this;
    }

    public UpstreamValues idleMillis(long millis) {
        idleMillis = millis;
        return this;
    }

    public UpstreamValues maxLifetimeMillis(long millis) {
        maxLifetimeMillis = millis;
        return this;
    }

    public UpstreamValues dialSettings(DialSettings made) {
        dialSettings = made;
        return this;
    }

    /** Returns the settings. */
    public UpstreamSettings build() {
        return new UpstreamSettings(
                protocol,
                tls,
                new CircuitBreaker(Position.NOWHERE, maxConnections, maxPendingRequests, maxRequests),
                new Timeouts(
                        Position.NOWHERE,
                        Duration.ofMillis(connectMillis),
                        Duration.ofMillis(tlsHandshakeMillis),
                        Duration.ofMillis(poolAcquireMillis),
                        Duration.ofMillis(responseHeadersMillis),
                        Duration.ofMillis(idleMillis),
                        Duration.ofMillis(maxLifetimeMillis)),
                dialSettings);
    }
}
