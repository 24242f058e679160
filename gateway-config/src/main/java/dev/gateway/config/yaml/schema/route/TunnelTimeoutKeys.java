package dev.gateway.config.yaml.schema.route;

import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.config.yaml.type.Key;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The three time limits that all tunnels have, with the defaults of each kind. */
public record TunnelTimeoutKeys(Key<?, Duration> idle, Key<?, Duration> halfClosed, Key<?, Duration> max) {
    /** Connections of TLS and TCP listeners, WebSockets: silence of an hour is not unusual, and they may stay. */
    static final TunnelTimeouts RELAY = new TunnelTimeouts(Duration.ofHours(1), Duration.ofMinutes(1), Duration.ZERO);

    /** Tunnels to hosts of the client's choice. */
    public static final TunnelTimeouts CONNECT =
            new TunnelTimeouts(Duration.ofMinutes(10), Duration.ofMinutes(1), Duration.ofHours(24));

    /**
     * Adds the keys to an object.
     *
     * @param getter null where they do not apply, and are not printed
     * @param where begins their descriptions
     */
    public static <T> TunnelTimeoutKeys declare(
            ObjectType.Declaration<T> o,
            TunnelTimeouts defaults,
            Function<T, @Nullable TunnelTimeouts> getter,
            String where) {
        return new TunnelTimeoutKeys(
                o.defaulted(
                        "idle",
                        Types.DURATION,
                        defaults.idle(),
                        print(getter, TunnelTimeouts::idle),
                        where + "How long a tunnel may transfer no byte in either direction."),
                o.defaulted(
                        "halfClosed",
                        Types.DURATION,
                        defaults.halfClosed(),
                        print(getter, TunnelTimeouts::halfClosed),
                        where + "How long a half-closed tunnel may transfer no byte."),
                o.defaulted(
                        "max",
                        Types.DURATION,
                        defaults.max(),
                        print(getter, TunnelTimeouts::max),
                        where + "Maximum duration of a tunnel."));
    }

    /** Returns what was written. */
    public TunnelTimeouts of(Values v) {
        return new TunnelTimeouts(v.get(idle), v.get(halfClosed), v.get(max));
    }

    private static <T> Key.Getter<T, Duration> print(
            Function<T, @Nullable TunnelTimeouts> getter, Function<TunnelTimeouts, Duration> part) {
        return owner -> {
            TunnelTimeouts timeouts = getter.apply(owner);
            return timeouts == null ? null : part.apply(timeouts);
        };
    }
}
