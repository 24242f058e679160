package dev.gateway.config.upstream;

import dev.gateway.config.listener.TlsConfig;
import dev.gateway.config.value.Position;
import dev.gateway.config.value.StatusRange;
import dev.gateway.format.Durations;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Upstream (cluster, backend): a named group of endpoints with one policy.
 *
 * @param endpoints at least one
 * @param healthChecks what takes endpoints out of service, null for what protects every upstream: failures in a row
 * @param panicThreshold the least percentage of endpoints in service, with fewer all are used; 0 for none
 * @param slowStart for how long an endpoint that joins others gets less than its share; zero for not at all
 * @param sessionPersistence what keeps clients at their endpoints, null for nothing
 */
public record UpstreamConfig(
        Position position,
        String name,
        List<EndpointConfig> endpoints,
        Protocols protocols,
        LoadBalancerConfig loadBalancer,
        CircuitBreaker circuitBreaker,
        Timeouts timeouts,
        @Nullable HealthChecks healthChecks,
        int panicThreshold,
        Duration slowStart,
        @Nullable SessionPersistenceConfig sessionPersistence) {

    public UpstreamConfig {
        endpoints = List.copyOf(endpoints);
    }

    /** Returns what it would be with other endpoints. */
    public UpstreamConfig withEndpoints(List<EndpointConfig> others) {
        return new UpstreamConfig(
                position,
                name,
                others,
                protocols,
                loadBalancer,
                circuitBreaker,
                timeouts,
                healthChecks,
                panicThreshold,
                slowStart,
                sessionPersistence);
    }

    /**
     * What is spoken to endpoints.
     *
     * @param tls null for cleartext; never null with protocol H2, always null with H2C
     * @param sendProxyProtocol what tells the endpoint who the client is; not NONE only if no HTTP route leads here
     */
    public record Protocols(Protocol protocol, @Nullable Tls tls, SendProxyProtocol sendProxyProtocol) {
        /** Whether HTTP/2 is spoken, or would be if endpoints offer it. */
        public boolean mayBeHttp2() {
            return protocol == Protocol.H2 || protocol == Protocol.H2C || (protocol == Protocol.AUTO && tls != null);
        }
    }

    /** The protocol of requests. */
    public enum Protocol {
        /** By ALPN over TLS: h2 if offered, else HTTP/1.1; HTTP/1.1 in cleartext. */
        AUTO,
        HTTP1,
        /** HTTP/2 over TLS. */
        H2,
        /** HTTP/2 in cleartext with prior knowledge. */
        H2C
    }

    /** The version of the PROXY protocol that each connection begins with. */
    public enum SendProxyProtocol {
        NONE,
        V1,
        V2
    }

    /**
     * TLS to endpoints.
     *
     * @param verify whether certificate and host name are verified
     * @param caFile PEM certificates trusted instead of the platform's, or null
     * @param serverName asked for and verified instead of the endpoint's host, {@link #OF_REQUEST}, or null
     * @param certFile PEM chain of the client certificate, or null
     * @param keyFile its PKCS#8 PEM key; null exactly if certFile is
     * @param offer what the gateway offers to speak
     */
    public record Tls(
            Position position,
            boolean verify,
            @Nullable Path caFile,
            @Nullable String serverName,
            @Nullable Path certFile,
            @Nullable Path keyFile,
            TlsOffer offer) {
        /** Says that the name is the host of each request, and that connections of one name serve no other. */
        public static final String OF_REQUEST = "{host}";

        /** Returns the usual way: the certificate is verified, by the authorities of a file or else the platform's. */
        public static Tls verified(Position position, @Nullable Path caFile) {
            return new Tls(position, true, caFile, null, null, null, TlsOffer.DEFAULT);
        }

        /** Returns the same for somewhere else in the file. */
        public Tls at(Position other) {
            return new Tls(other, verify, caFile, serverName, certFile, keyFile, offer);
        }

        /** Whether the host of each request is the name to ask for and verify. */
        public boolean followsHost() {
            return OF_REQUEST.equals(serverName);
        }
    }

    /**
     * What the gateway offers in a handshake.
     *
     * @param ciphers names as OpenSSL or the JDK write them; empty for a safe default
     */
    public record TlsOffer(TlsConfig.Version minVersion, TlsConfig.Version maxVersion, List<String> ciphers) {
        /** TLS 1.2 and 1.3, with safe ciphers. */
        public static final TlsOffer DEFAULT =
                new TlsOffer(TlsConfig.Version.TLS_1_2, TlsConfig.Version.TLS_1_3, List.of());

        public TlsOffer {
            ciphers = List.copyOf(ciphers);
        }

        /** Returns the names of the versions that are offered, the oldest first. */
        public List<String> versions() {
            return TlsConfig.Version.names(minVersion, maxVersion);
        }
    }

    /** What all event loops together may have open to an upstream; at least 1 each, but for {@link #NONE}. */
    public record CircuitBreaker(Position position, int maxConnections, int maxPendingRequests, int maxRequests) {
        /** No limits, which no file can have. */
        public static final CircuitBreaker NONE = new CircuitBreaker(Position.NOWHERE, 0, 0, 0);
    }

    /**
     * Time limits of upstream connections, zero for none.
     *
     * @param connect name resolution not included
     * @param poolAcquire how long a request may wait for a connection
     * @param responseHeaders from the request's end, or from the last progress of its body, to the response's head
     * @param idle how long an unused connection is kept
     * @param maxLifetime after which a connection takes no new request; jittered
     */
    public record Timeouts(
            Position position,
            Duration connect,
            Duration tlsHandshake,
            Duration poolAcquire,
            Duration responseHeaders,
            Duration idle,
            Duration maxLifetime) {}

    /**
     * What tells endpoints that requests had better not be sent to.
     *
     * @param active by asking them, null for not at all
     * @param outlierDetection by what becomes of requests, null if only what certainly is the endpoint's fault counts
     * @param closeOnFailure whether requests that wait at an endpoint fail as soon as it is found not to answer, if they
     *     cannot be sent to another one
     */
    public record HealthChecks(
            Position position,
            @Nullable ActiveCheck active,
            @Nullable OutlierDetection outlierDetection,
            boolean closeOnFailure) {}

    /**
     * Endpoints are asked again and again whether they are well.
     *
     * @param request what they are asked
     * @param interval from an answer to the next question; not zero
     * @param unhealthyInterval the same while the endpoint is unhealthy, null for no other; not zero
     * @param timeout of an answer, connecting included; not zero
     * @param healthyThreshold how many good answers in a row end a bad time, at least 1
     * @param unhealthyThreshold how many bad ones end a good time, at least 1
     */
    public record ActiveCheck(
            Position position,
            CheckRequest request,
            Duration interval,
            @Nullable Duration unhealthyInterval,
            Duration timeout,
            int healthyThreshold,
            int unhealthyThreshold) {
        /** Returns the milliseconds from an answer to the next question. */
        public long intervalMillis(boolean isHealthy) {
            return Durations.millis(isHealthy || unhealthyInterval == null ? interval : unhealthyInterval);
        }
    }

    /** The type of an active check, and what only that type has. */
    public sealed interface CheckRequest permits HttpCheck, GrpcCheck, TcpCheck {}

    /**
     * A GET request.
     *
     * @param path the path that the check requests
     * @param host that the request names, null for the endpoint's own
     * @param expectedStatuses of good answers, at least one
     */
    public record HttpCheck(String path, @Nullable String host, List<StatusRange> expectedStatuses)
            implements CheckRequest {
        public HttpCheck {
            expectedStatuses = List.copyOf(expectedStatuses);
        }

        /** Whether an answer with this status is a good one. */
        public boolean expects(int status) {
            return expectedStatuses.stream().anyMatch(each -> each.contains(status));
        }
    }

    /**
     * A call of {@code grpc.health.v1.Health/Check}.
     *
     * @param service the service whose health the check requests, empty for the whole server
     */
    public record GrpcCheck(String service) implements CheckRequest {}

    /** A connection, with TLS if the upstream has some. */
    public record TcpCheck() implements CheckRequest {}

    /**
     * Endpoints that fail again and again are ejected: they get no requests for a while.
     *
     * @param consecutive5xx how many answers of 500 to 599, failed calls of gRPC, failed connections, resets and timeouts
     *     in a row; 0 if none is ever ejected
     * @param baseEjectionTime how long the first time; not zero
     * @param maxEjectionTime how long at most, when it is ejected again and again; no less
     * @param maxEjectionPercent of endpoints at the same time, from 1 to 100
     * @param successRate when endpoints are ejected that succeed less often than others, null for never
     */
    public record OutlierDetection(
            Position position,
            int consecutive5xx,
            Duration baseEjectionTime,
            Duration maxEjectionTime,
            int maxEjectionPercent,
            @Nullable SuccessRate successRate) {}

    /**
     * Endpoints that succeed less often than others.
     *
     * @param interval over which requests are counted; not zero
     * @param minimumHosts how many endpoints must have had enough requests, at least 2
     * @param requestVolume how many requests are enough, at least 1
     * @param stdevFactor how far below the average is too low, in thousandths of the standard deviation
     */
    public record SuccessRate(Duration interval, int minimumHosts, int requestVolume, int stdevFactor) {}
}
