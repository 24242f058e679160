package dev.gateway.connect;

import dev.gateway.config.ConnectConfig.Sni;
import dev.gateway.format.PortRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Makes policies for tests. */
final class Rules {
    private Rules() {}

    /** Makes the lines of a list; they are called {@code allow[0]} and so on. */
    static List<HostRule> list(String name, String... texts) {
        List<HostRule> rules = new ArrayList<>();
        for (int i = 0; i < texts.length; i++) {
            rules.add(new HostRule(texts[i], name + "[" + i + "]"));
        }
        return rules;
    }

    static List<HostRule> allow(String... texts) {
        return list("allow", texts);
    }

    static List<HostRule> deny(String... texts) {
        return list("deny", texts);
    }

    /** Makes a policy for port 443. */
    static ConnectPolicy policy(List<HostRule> allow, List<HostRule> deny) {
        return policy("egress", allow, deny, Sni.OFF, 0);
    }

    static ConnectPolicy policy(String name, List<HostRule> allow, List<HostRule> deny, Sni sni, int maxTunnels) {
        return new ConnectPolicy(
                new ConnectPolicy.Settings(name, List.of(new PortRange(443, 443)), allow, deny, sni, maxTunnels));
    }

    static Policies only(ConnectPolicy policy) {
        return new Policies(policy, List.of());
    }

    static Policies.Assigned forIdentity(String identity, ConnectPolicy policy) {
        return new Policies.Assigned(Set.of(identity), Set.of(), policy);
    }

    static Policies.Assigned forGroup(String group, ConnectPolicy policy) {
        return new Policies.Assigned(Set.of(), Set.of(group), policy);
    }
}
