package dev.gateway.upstream;

import dev.gateway.config.upstream.UpstreamConfig.CircuitBreaker;
import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.config.upstream.UpstreamConfig.Timeouts;
import dev.gateway.config.upstream.UpstreamConfig.Tls;
import dev.gateway.config.value.Position;
import dev.gateway.upstream.dial.DialSettings;
import dev.gateway.upstream.dial.UpstreamSettings;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Upstreams of the gateway's own: servers that the configuration names by a URL, and not among the upstreams. */
public final class UrlUpstream {
    /** There is nothing to choose: each has one endpoint, if that is in service. */
    private static final Balancer.Policy ONLY_ONE =
            hosts -> request -> hosts.isEmpty() ? null : hosts.get(0).endpoint();

    private UrlUpstream() {}

    /**
     * Times of its connections.
     *
     * @param stepMillis how long each step takes at most: connecting, the handshake of TLS, waiting for a response
     * @param idleMillis how long an unused connection is kept
     */
    public record Times(long stepMillis, long idleMillis) {}

    /**
     * Makes one with one endpoint, whose certificate is verified if the URL has https.
     *
     * @param name with a colon, so that it is nobody else's
     * @param url with a host
     * @param caFile CA certificates trusted instead of the platform's, or null
     */
    public static Upstream of(String name, URI url, @Nullable Path caFile, Times times) {
        boolean secured = url.getScheme().equals("https");
        String host = url.getHost().startsWith("[")
                ? url.getHost().substring(1, url.getHost().length() - 1)
                : url.getHost();
        int port = url.getPort() > 0 ? url.getPort() : secured ? 443 : 80;
        Duration step = Duration.ofMillis(times.stepMillis);
        UpstreamSettings settings = new UpstreamSettings(
                Protocol.AUTO,
                secured ? Tls.verified(Position.NOWHERE, caFile) : null,
                CircuitBreaker.NONE,
                new Timeouts(
                        Position.NOWHERE,
                        step,
                        step,
                        Duration.ZERO,
                        step,
                        Duration.ofMillis(times.idleMillis),
                        Duration.ZERO),
                DialSettings.DIRECT);
        return new Upstream(name, List.of(new Endpoint(0, host, port, 1)), ONLY_ONE, settings);
    }
}
