package dev.gateway.connect;

import dev.gateway.format.IpLiteral;
import dev.gateway.upstream.dial.AddressPolicy;
import dev.gateway.upstream.dial.ParentProxies;
import dev.gateway.upstream.dial.ParentProxy;
import java.net.InetAddress;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Parent proxy rules. Says through which proxy hosts are reached: the first rule with a line that matches. A proxy may be
 * anywhere, having been configured, except for where this gateway listens itself. Immutable.
 */
public final class ParentRules implements ParentProxies, AddressPolicy {
    private final List<Rule> rules;
    private final OwnListeners own;

    /**
     * What is reached how.
     *
     * @param proxy null for directly
     */
    public record Rule(HostRules hosts, @Nullable ParentProxy proxy) {}

    /** Makes the rules, in their order. */
    public ParentRules(List<Rule> rules, OwnListeners own) {
        this.rules = List.copyOf(rules);
        this.own = own;
    }

    @Override
    public @Nullable ParentProxy parentOf(String host, int port) {
        if (rules.isEmpty()) {
            return null;
        }
        InetAddress address = IpLiteral.parse(host);
        String name = host.toLowerCase(Locale.ROOT);
        for (int i = 0; i < rules.size(); i++) {
            if (rules.get(i).hosts().match(name, address) != null) {
                return rules.get(i).proxy();
            }
        }
        return null;
    }

    @Override
    public List<ParentProxy> all() {
        return rules.stream()
                .map(Rule::proxy)
                .filter(Objects::nonNull)
                .distinct()
                .toList();
    }

    @Override
    public AddressPolicy addresses() {
        return this;
    }

    @Override
    public @Nullable String refuse(String host, InetAddress address, int port) {
        boolean loop = own.contains(address, port)
                || SpecialAddresses.embedded(address).stream().anyMatch(inside -> own.contains(inside, port));
        return loop ? address.getHostAddress() + " is this gateway itself" : null;
    }
}
