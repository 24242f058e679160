package dev.gateway.config.yaml.schema.connect;

import dev.gateway.config.ConnectConfig.Access;
import dev.gateway.config.Destination;
import dev.gateway.format.Cidr;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What can be said about destinations without resolving a name. */
public final class Destinations {
    /** What nobody means when they speak of the internet. */
    private static final List<Cidr> PRIVATE = Stream.of(
                    "0.0.0.0/8",
                    "10.0.0.0/8",
                    "100.64.0.0/10",
                    "127.0.0.0/8",
                    "169.254.0.0/16",
                    "172.16.0.0/12",
                    "192.168.0.0/16",
                    "::1/128",
                    "fc00::/7",
                    "fe80::/10")
            .map(block -> Objects.requireNonNull(Cidr.parse(block)))
            .toList();

    /** What localhost stands for. */
    private static final List<Cidr> LOCALHOST = Stream.of("127.0.0.1/32", "::1/128")
            .map(address -> Objects.requireNonNull(Cidr.parse(address)))
            .toList();

    private static final Cidr LOOPBACK = Objects.requireNonNull(Cidr.parse("127.0.0.0/8"));

    private Destinations() {}

    /** Returns the first of some that has all that another has, null if none does. */
    public static @Nullable Destination covering(List<Destination> list, Destination other) {
        for (Destination each : list) {
            if (covers(each, other)) {
                return each;
            }
        }
        return null;
    }

    /** Whether some of what an entry or a policy allows is left by what it denies. */
    public static boolean isAnyAllowed(Access access) {
        return access.allow().stream().anyMatch(each -> covering(access.deny(), each) == null);
    }

    private static boolean covers(Destination wide, Destination narrow) {
        if (wide instanceof Destination.Domain domain) {
            return narrow instanceof Destination.Name name
                    ? isWithin(name.host(), domain)
                    : narrow instanceof Destination.Domain other && isWithin(other.domain(), domain);
        } else if (wide instanceof Destination.Name name) {
            return narrow instanceof Destination.Name other && other.host().equals(name.host());
        } else if (wide instanceof Destination.Block block) {
            return narrow instanceof Destination.Block other && block.block().covers(other.block());
        }
        return true; // Any
    }

    private static boolean isWithin(String name, Destination.Domain domain) {
        return name.equals(domain.domain()) || name.endsWith("." + domain.domain());
    }

    /** Whether all that it has is certain to be private. */
    public static boolean isPrivate(Destination destination) {
        if (destination instanceof Destination.Block block) {
            return PRIVATE.stream().anyMatch(each -> each.covers(block.block()));
        }
        return destination instanceof Destination.Name name
                && (name.host().equals("localhost") || name.host().endsWith(".localhost"));
    }

    /** Whether some of what a private destination leads to is trusted. */
    public static boolean isTrusted(Destination allowed, List<Destination> trusted) {
        return trusted.stream()
                .map(Destinations::host)
                .anyMatch(each -> covers(each, allowed)
                        || covers(allowed, each)
                        || (allowed instanceof Destination.Name
                                && each instanceof Destination.Block block
                                && LOCALHOST.stream()
                                        .anyMatch(address -> block.block().covers(address))));
    }

    private static Destination host(Destination destination) {
        return destination instanceof Destination.HostAndPort one ? one.host() : destination;
    }

    /** Whether some are all of this machine's own addresses of IPv4, whatever else they are. */
    public static boolean haveLoopback(List<Destination> destinations) {
        return destinations.stream()
                .anyMatch(each -> each instanceof Destination.Any
                        || (each instanceof Destination.Block block
                                && block.block().covers(LOOPBACK)));
    }
}
