package dev.gateway.config.listener;

import dev.gateway.config.value.Position;
import dev.gateway.format.Cidr;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Listener settings: a bound address with a protocol.
 *
 * @param bind where; if other processes may bind the port too, every event loop does so for itself with {@code
 *     SO_REUSEPORT}
 * @param ipAccess who may connect, by address; null for everybody
 * @param http how requests are read, without meaning where connections carry none
 */
public record ListenerConfig(
        Position position,
        String name,
        BindConfig bind,
        Protocols protocols,
        @Nullable IpAccessConfig ipAccess,
        Http http,
        Limits limits,
        Timeouts timeouts) {
    private static final long DEFAULT_BODY_RATE = 100;

    /** Whether connections carry requests, or else are tunnels themselves. */
    public boolean isHttp() {
        return protocols.protocol().isHttp();
    }

    /**
     * Returns how many bytes of a request's body a client must send in a second, on average, 0 for any number. Who lets
     * clients be silent for as long as they like has to ask for a rate.
     */
    public long minBodyRate() {
        Long written = limits.clients().minBodyRate();
        return written != null ? written : timeouts.requestBodyIdle().isZero() ? 0 : DEFAULT_BODY_RATE;
    }

    /**
     * What is spoken.
     *
     * @param tls not null exactly for {@link Protocol#HTTPS}, and for {@link Protocol#TLS} where it passes through
     * @param proxyProtocol null if no PROXY protocol header is expected
     */
    public record Protocols(Protocol protocol, @Nullable TlsConfig tls, @Nullable ProxyProtocol proxyProtocol) {}

    /** What connections carry. */
    public enum Protocol {
        /** HTTP/1.1 and, with prior knowledge, h2c. */
        HTTP,
        /** HTTP/1.1 and h2 over TLS, by ALPN. */
        HTTPS,
        /** TLS that is relayed as it is, by the name that the client asks for. */
        TLS,
        /** Bytes that are relayed as they are. */
        TCP;

        /** Whether connections carry requests, or else are tunnels themselves. */
        public boolean isHttp() {
            return this == HTTP || this == HTTPS;
        }
    }

    /**
     * How requests are read.
     *
     * @param h2cUpgrade whether {@code Upgrade: h2c} is accepted besides prior knowledge
     * @param halfClose what a client's FIN means that waits for a response of HTTP/1
     * @param trustedProxies peers whose forwarded headers and request ids are believed
     * @param forwardedHeaders which headers tell upstreams about the client
     * @param via which requests to {@code backendRefs} get {@code Via}
     * @param headersWithUnderscores what becomes of fields whose names have other characters than letters, digits and
     *     hyphens, or begin with another than a letter
     * @param requestId how requests are told apart
     * @param serverHeader what becomes of {@code Server} in responses
     * @param errorPages for errors that no rule has a page for, null if there are none
     */
    public record Http(
            boolean h2cUpgrade,
            HalfClose halfClose,
            List<Cidr> trustedProxies,
            ForwardedHeaders forwardedHeaders,
            Via via,
            HeadersWithUnderscores headersWithUnderscores,
            RequestId requestId,
            ServerHeader serverHeader,
            @Nullable ErrorPagesConfig errorPages) {
        public Http {
            trustedProxies = List.copyOf(trustedProxies);
        }
    }

    /** What it means that a client of HTTP/1 has sent FIN, or close_notify, and the response has not begun. */
    public enum HalfClose {
        /** The client has given up, unless that came together with the end of the request. */
        ABORT,
        /** The client has finished sending, and gets its response. */
        ALLOW
    }

    /** Which headers tell upstreams about the client. */
    public enum ForwardedHeaders {
        /** {@code X-Forwarded-For}, {@code -Proto}, {@code -Host} and {@code -Port}. */
        X_FORWARDED,
        /** {@code Forwarded}, RFC 7239. */
        FORWARDED,
        BOTH,
        /** None is added; those of peers that are not trusted are removed all the same. */
        OFF
    }

    /** Which requests to {@code backendRefs} get {@code Via}; other requests always do. */
    public enum Via {
        /** Those to a listener of this gateway, which may come back. */
        AUTO,
        /** All. */
        ALWAYS
    }

    /** What becomes of fields whose names servers may take for others. */
    public enum HeadersWithUnderscores {
        /** The request is refused. */
        REJECT,
        /** The field does not go upstream. */
        DROP,
        /** The field goes upstream. */
        ALLOW
    }

    /**
     * How requests are told apart.
     *
     * @param header the name of the field that has the ID
     */
    public record RequestId(Position position, String header, Format format) {
        /** What made IDs look like. */
        public enum Format {
            /** 32 hexadecimal digits. */
            HEX,
            /** A random UUID (RFC 9562, version 4). */
            UUID
        }
    }

    /**
     * What becomes of {@code Server} in responses.
     *
     * @param name what the gateway itself writes
     */
    public record ServerHeader(Position position, Transformation transformation, String name) {
        /** What becomes of that of an upstream. */
        public enum Transformation {
            /** It stays, and responses without it get none. The gateway's own responses have its name. */
            PASS_THROUGH,
            /** It stays, and responses without it get the gateway's name. */
            APPEND_IF_ABSENT,
            /** All responses have the gateway's name. */
            OVERWRITE,
            /** No response has one. */
            REMOVE
        }
    }

    /** The PROXY protocol, v1 or v2: required from these peers, an error from all others. */
    public record ProxyProtocol(Position position, List<Cidr> trustedCidrs) {
        public ProxyProtocol {
            trustedCidrs = List.copyOf(trustedCidrs);
        }
    }

    /**
     * What one client may ask for; 0 is no limit where that is said.
     *
     * @param maxRequestLine bytes, at least 1
     * @param maxHeaderBytes bytes of all fields of a head, names and values, at least 1
     * @param maxHeaders fields of a head, at least 1
     * @param maxBody bytes of a request's body, 0 for no limit
     * @param maxConcurrentStreams of one HTTP/2 connection, at least 1
     */
    public record Limits(
            Position position,
            long maxRequestLine,
            long maxHeaderBytes,
            int maxHeaders,
            long maxBody,
            Clients clients,
            int maxConcurrentStreams) {}

    /**
     * What holds for connections rather than for requests; 0 is no limit.
     *
     * @param maxConnections at once on this listener; null if nothing is said, see {@link #connections()}
     * @param maxConnectionsPerClient of one address, or of one IPv6 network of 64 bits, at once
     * @param maxAcceptRate connections that are accepted in a second
     * @param minBodyRate bytes of a request's body that a client must send in a second, on average; null if nothing is said,
     *     see {@link ListenerConfig#minBodyRate}
     */
    public record Clients(
            @Nullable Integer maxConnections,
            int maxConnectionsPerClient,
            int maxAcceptRate,
            @Nullable Long minBodyRate) {
        /** Returns how many connections there may be at once, 0 for no limit. */
        public int connections() {
            return maxConnections == null ? OpenFiles.forClients() : maxConnections;
        }
    }

    /**
     * Time limits of downstream connections, zero for none.
     *
     * @param requestHeaders from a request's first byte to the end of its head
     * @param requestBodyIdle between two reads of a request's body
     * @param idle without any exchange
     * @param maxConnectionAge after which a connection is drained
     * @param responseWriteIdle without the client taking a byte that is ready for it
     */
    public record Timeouts(
            Position position,
            Duration tlsHandshake,
            Duration requestHeaders,
            Duration requestBodyIdle,
            Duration idle,
            Duration maxConnectionAge,
            Duration responseWriteIdle) {}
}
