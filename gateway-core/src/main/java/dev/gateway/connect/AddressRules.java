package dev.gateway.connect;

import dev.gateway.config.Destination.HostAndPort;
import dev.gateway.format.CidrSet;
import dev.gateway.upstream.dial.AddressPolicy;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Address policy of an entry: judges the addresses that tunnels of an entry would lead to, after names are resolved. IPv6
 * addresses that stand for IPv4 ones are judged as those too. Shared by all event loops; immutable except for what it is told
 * to count.
 */
public final class AddressRules implements AddressPolicy {
    private final Settings settings;
    private final HostRules trusted;
    private final List<Named> named;
    private final CidrSet denied;
    private final OwnListeners own;
    private final ConnectTally tally;

    private record Named(HostRules host, int port) {}

    /**
     * What is judged how.
     *
     * @param listener what metrics call it
     * @param denyPrivate whether what is not public is refused
     * @param trusted exempt from denyPrivate
     * @param named exempt from denyPrivate, too; and these alone may be listeners of this gateway, which are refused
     *     otherwise, whatever else is allowed
     * @param deny blocks that are refused whatever name leads there; other lines are left to {@link ConnectRules}
     * @param audit whether what is denied is only noted; addresses that are not public, and own listeners, stay refused
     */
    public record Settings(
            String listener,
            boolean denyPrivate,
            List<HostRule> trusted,
            List<HostAndPort> named,
            List<HostRule> deny,
            boolean audit) {
        public Settings {
            trusted = List.copyOf(trusted);
            named = List.copyOf(named);
            deny = List.copyOf(deny);
        }
    }

    /**
     * Makes the rules.
     *
     * @throws IllegalArgumentException if a line of a list has no form that {@link HostRule} names
     */
    public AddressRules(Settings settings, OwnListeners own, ConnectTally tally) {
        this.settings = settings;
        this.trusted = HostRules.of(settings.trusted());
        this.named = settings.named().stream()
                .map(each -> new Named(
                        HostRules.of(List.of(new HostRule(each.host().text(), "trustedDestinations"))), each.port()))
                .toList();
        this.denied = CidrSet.of(HostRules.of(settings.deny()).cidrs());
        this.own = own;
        this.tally = tally;
    }

    @Override
    public @Nullable String refuse(String host, InetAddress address, int port) {
        List<InetAddress> inside = SpecialAddresses.embedded(address);
        boolean named = isNamed(host, address, inside, port);
        if (!named && isOwn(address, port, inside)) {
            return refused(address, "this gateway itself");
        }
        String kind = settings.denyPrivate && !named ? SpecialAddresses.kind(address) : null;
        if (kind != null && !isTrusted(host, address, inside)) {
            if (settings.audit) {
                tally.audit().notPublic(host);
            }
            return refused(address, kind);
        }
        if (denied.contains(address) || (!inside.isEmpty() && inside.stream().anyMatch(denied::contains))) {
            String text = refused(address, "in a block that is denied");
            if (!settings.audit) {
                return text;
            }
            tally.audit().address(host, port, text);
        }
        return null;
    }

    @Override
    public @Nullable String refuseName(String name, int port) {
        if (SpecialNames.isLoopback(name)) {
            return refuse(
                    name, NetUtil.LOCALHOST4, port); // may be a listener of the parent's machine, which may be this one
        }
        String kind = settings.denyPrivate && !isNamed(name, port) ? SpecialNames.kind(name) : null;
        if (kind == null || trusted.match(name, null) != null) {
            return null;
        }
        if (settings.audit) {
            tally.audit().notPublic(name);
        }
        return refused(name, kind);
    }

    private String refused(InetAddress address, String reason) {
        return refused(address.getHostAddress(), reason);
    }

    private String refused(String what, String reason) {
        tally.denied(settings.listener, "address");
        return what + " is " + reason;
    }

    private boolean isOwn(InetAddress address, int port, List<InetAddress> inside) {
        if (own.contains(address, port)) {
            return true;
        }
        for (InetAddress each : inside) {
            if (own.contains(each, port)) {
                return true;
            }
        }
        return false;
    }

    private boolean isNamed(String host, InetAddress address, List<InetAddress> inside, int port) {
        for (int i = 0; i < named.size(); i++) {
            if (named.get(i).port == port && matches(named.get(i).host, host, address, inside)) {
                return true;
            }
        }
        return false;
    }

    private boolean isNamed(String name, int port) {
        for (int i = 0; i < named.size(); i++) {
            if (named.get(i).port == port && named.get(i).host.match(name, null) != null) {
                return true;
            }
        }
        return false;
    }

    private boolean isTrusted(String host, InetAddress address, List<InetAddress> inside) {
        return matches(trusted, host, address, inside);
    }

    private static boolean matches(HostRules rules, String host, InetAddress address, List<InetAddress> inside) {
        if (rules.match(host, null) != null || rules.match("", address) != null) {
            return true;
        }
        for (InetAddress each : inside) {
            if (rules.match("", each) == null) {
                return false; // the other one alone says nothing about where packets go
            }
        }
        return !inside.isEmpty();
    }
}
