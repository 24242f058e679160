package dev.gateway.upstream;

import dev.gateway.config.upstream.UpstreamConfig.ActiveCheck;
import dev.gateway.config.upstream.UpstreamConfig.CheckRequest;
import dev.gateway.config.upstream.UpstreamConfig.HttpCheck;
import dev.gateway.config.upstream.UpstreamConfig.TcpCheck;
import dev.gateway.config.value.Position;
import dev.gateway.config.value.StatusRange;
import java.time.Duration;
import java.util.List;

/** Settings of active checks. */
public final class CheckValues {
    /** One connection each second decides. */
    public static final ActiveCheck TCP = check(new TcpCheck(), 1000, 1000, 1000, 1, 1);

    /** Asks for {@code /healthz}, and takes any status of 200 to 299. */
    public static final HttpCheck HTTP = new HttpCheck("/healthz", null, List.of(new StatusRange(200, 299)));

    private CheckValues() {}

    /** Makes settings; times are in milliseconds. */
    public static ActiveCheck check(
            CheckRequest request, long interval, long unhealthyInterval, long timeout, int healthy, int unhealthy) {
        return new ActiveCheck(
                Position.NOWHERE,
                request,
                Duration.ofMillis(interval),
                Duration.ofMillis(unhealthyInterval),
                Duration.ofMillis(timeout),
                healthy,
                unhealthy);
    }
}
