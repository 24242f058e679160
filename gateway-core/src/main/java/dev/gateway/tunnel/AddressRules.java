package dev.gateway.tunnel;

import dev.gateway.stream.CidrSet;
import dev.gateway.upstream.AddressPolicy;
import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Judges the addresses that tunnels of an entry would lead to, after names are resolved. IPv6 addresses that stand for
 * IPv4 ones are judged as those too. Shared by all event loops; immutable but for what it is told to count.
 */
public final class AddressRules implements AddressPolicy {
    private final Settings settings;
    private final HostRules trusted;
    private final CidrSet denied;
    private final OwnListeners own;
    private final ConnectTally tally;

    /**
     * What is judged how.
     *
     * @param listener what metrics call it
     * @param denyPrivate whether what is not public is refused, this gateway's own listeners included
     * @param trusted exempt from denyPrivate. Own listeners are only if they are named one by one: as a name, or a
     *     single address
     * @param deny blocks that are refused whatever name leads there; other lines are left to {@link ConnectRules}
     * @param audit whether what is refused is only noted, own listeners aside
     */
    public record Settings(
            String listener, boolean denyPrivate, List<HostRule> trusted, List<HostRule> deny, boolean audit) {
        public Settings {
            trusted = List.copyOf(trusted);
            deny = List.copyOf(deny);
        }
    }

    /**
     * Makes the rules.
     *
     * @throws IllegalArgumentException if a line of a list is none of the forms that {@link HostRule} names
     */
    public AddressRules(Settings settings, OwnListeners own, ConnectTally tally) {
        this.settings = settings;
        this.trusted = HostRules.of(settings.trusted());
        this.denied = CidrSet.of(HostRules.of(settings.deny()).cidrs());
        this.own = own;
        this.tally = tally;
    }

    @Override
    public @Nullable String refuse(String host, InetAddress address, int port) {
        if (!settings.denyPrivate && denied.isEmpty()) {
            return null;
        }
        List<InetAddress> inside = SpecialAddresses.embedded(address);
        boolean ours = false;
        String reason = null;
        if (denied.contains(address) || (!inside.isEmpty() && inside.stream().anyMatch(denied::contains))) {
            reason = "in a block that is denied";
        } else if (settings.denyPrivate) {
            ours = isOwn(address, port, inside);
            String kind = ours ? "this gateway itself" : SpecialAddresses.kind(address);
            if (kind != null && !isTrusted(host, address, inside, ours)) {
                reason = kind;
            }
        }
        if (reason == null) {
            return null;
        }
        tally.denied(settings.listener, "address");
        String text = address.getHostAddress() + " is " + reason;
        if (settings.audit && !ours) {
            tally.audit().address(host, port, text);
            return null;
        }
        return text;
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

    private boolean isTrusted(String host, InetAddress address, List<InetAddress> inside, boolean ours) {
        if (trusts(trusted.match(host, null), ours) || trusts(trusted.match("", address), ours)) {
            return true;
        }
        for (InetAddress each : inside) {
            if (trusts(trusted.match("", each), ours)) {
                return true;
            }
        }
        return false;
    }

    private static boolean trusts(@Nullable HostRule rule, boolean ours) {
        return rule != null && (!ours || isSingle(rule.text()));
    }

    private static boolean isSingle(String text) {
        int slash = text.indexOf('/');
        boolean whole = slash < 0 || text.substring(slash + 1).equals(text.indexOf(':') < 0 ? "32" : "128");
        return whole && !text.startsWith(".") && !text.equals("*");
    }
}
