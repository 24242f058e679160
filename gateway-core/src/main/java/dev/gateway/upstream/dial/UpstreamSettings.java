package dev.gateway.upstream.dial;

import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.config.upstream.UpstreamConfig.Tls;
import org.jspecify.annotations.Nullable;

/**
 * The policy of an upstream's connections. Times are in milliseconds, 0 for no limit.
 *
 * @param tls how connections are secured, null for cleartext
 * @param maxConnections connections of all event loops together
 * @param maxPendingRequests requests of all event loops together that wait for a connection
 * @param maxRequests requests of all event loops together in flight
 * @param connectMillis name resolution not included
 * @param poolAcquireMillis how long a request may wait for a connection
 * @param responseHeadersMillis from the request's end, or from the last progress of its body, to the response's head
 * @param idleMillis how long an unused connection is kept
 * @param maxLifetimeMillis age after which a connection takes no new request; jittered, so that not all end at once
 * @param dialSettings how connections are made
 */
public record UpstreamSettings(
        Protocol protocol,
        @Nullable Tls tls,
        int maxConnections,
        int maxPendingRequests,
        int maxRequests,
        long connectMillis,
        long tlsHandshakeMillis,
        long poolAcquireMillis,
        long responseHeadersMillis,
        long idleMillis,
        long maxLifetimeMillis,
        DialSettings dialSettings) {

    /** Begins without limits, with {@link Protocol#AUTO} in cleartext, and without parent proxies. */
    public static Builder builder() {
        return new Builder();
    }

    /** Collects the settings of an upstream's connections. What is not set has no limit. */
    public static final class Builder {
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

        private Builder() {}

        public Builder protocol(Protocol spoken) {
            protocol = spoken;
            return this;
        }

        public Builder tls(@Nullable Tls secured) {
            tls = secured;
            return this;
        }

        public Builder maxConnections(int most) {
            maxConnections = most;
            return this;
        }

        public Builder maxPendingRequests(int most) {
            maxPendingRequests = most;
            return this;
        }

        public Builder maxRequests(int most) {
            maxRequests = most;
            return this;
        }

        public Builder connectMillis(long millis) {
            connectMillis = millis;
            return this;
        }

        public Builder tlsHandshakeMillis(long millis) {
            tlsHandshakeMillis = millis;
            return this;
        }

        public Builder poolAcquireMillis(long millis) {
            poolAcquireMillis = millis;
            return this;
        }

        public Builder responseHeadersMillis(long millis) {
            responseHeadersMillis = millis;
            return this;
        }

        public Builder idleMillis(long millis) {
            idleMillis = millis;
            return this;
        }

        public Builder maxLifetimeMillis(long millis) {
            maxLifetimeMillis = millis;
            return this;
        }

        public Builder dialSettings(DialSettings made) {
            dialSettings = made;
            return this;
        }

        /** Returns the settings. */
        public UpstreamSettings build() {
            return new UpstreamSettings(
                    protocol,
                    tls,
                    maxConnections,
                    maxPendingRequests,
                    maxRequests,
                    connectMillis,
                    tlsHandshakeMillis,
                    poolAcquireMillis,
                    responseHeadersMillis,
                    idleMillis,
                    maxLifetimeMillis,
                    dialSettings);
        }
    }

    /** Whether TLS asks for, and verifies, the host of each request. */
    public boolean followsHost() {
        return tls != null && tls.followsHost();
    }
}
