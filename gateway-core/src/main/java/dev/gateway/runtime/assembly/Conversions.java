package dev.gateway.runtime.assembly;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.OverloadConfig;
import dev.gateway.config.listener.TlsConfig;
import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.exchange.route.Route;
import dev.gateway.net.transport.TransportKind;
import dev.gateway.overload.OverloadSettings;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/** Unit conversions: values of the configuration as what runs has them. */
public final class Conversions {
    private Conversions() {}

    /** Returns milliseconds, at least one for a duration that is not zero: 0 means no limit. */
    public static long millis(Duration duration) {
        return duration.isZero() ? 0 : Math.max(1, duration.toMillis());
    }

    /** Returns the time limits of tunnels. */
    static Route.TunnelTimeouts tunnel(TunnelTimeouts timeouts) {
        return new Route.TunnelTimeouts(millis(timeouts.idle()), millis(timeouts.halfClosed()), millis(timeouts.max()));
    }

    /** Returns the transport of that name. */
    public static TransportKind transport(GatewayConfig.Transport wanted) {
        return switch (wanted) {
            case AUTO, EPOLL -> TransportKind.EPOLL;
            case IO_URING -> TransportKind.IO_URING;
            case NIO -> TransportKind.NIO;
        };
    }

    /** Returns when new work is refused. */
    public static OverloadSettings overload(OverloadConfig config) {
        return new OverloadSettings(
                config.heap(),
                config.directMemory(),
                config.openFiles(),
                millis(config.lag()),
                config.requestsInFlight());
    }

    /** Returns the versions of TLS from the oldest to the newest, both included. */
    static List<String> versions(TlsConfig.Version oldest, TlsConfig.Version newest) {
        return Arrays.stream(TlsConfig.Version.values())
                .filter(version -> version.compareTo(oldest) >= 0 && version.compareTo(newest) <= 0)
                .map(TlsConfig.Version::toString)
                .toList();
    }
}
