package dev.gateway.tunnel;

import dev.gateway.upstream.ParentProxies;
import dev.gateway.upstream.ParentProxy;
import java.net.InetAddress;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Says through which proxy hosts are reached: the first rule with a line that matches. Immutable. */
public final class ParentRules implements ParentProxies {
    private final List<Rule> rules;

    /**
     * What is reached how.
     *
     * @param proxy null for directly
     */
    public record Rule(HostRules hosts, @Nullable ParentProxy proxy) {}

    /** Makes the rules, in their order. */
    public ParentRules(List<Rule> rules) {
        this.rules = List.copyOf(rules);
    }

    @Override
    public @Nullable ParentProxy parentOf(String host, int port) {
        InetAddress address = host.indexOf(':') < 0 ? IpLiteral.parse4(host) : IpLiteral.parse6(host);
        String name = host.toLowerCase(Locale.ROOT);
        for (int i = 0; i < rules.size(); i++) {
            if (rules.get(i).hosts().match(name, address) != null) {
                return rules.get(i).proxy();
            }
        }
        return null;
    }
}
