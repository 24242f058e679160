package dev.gateway.connect;

import dev.gateway.config.ConnectConfig.Sni;
import dev.gateway.format.PortRange;
import dev.gateway.stream.Cause;
import java.util.List;

/**
 * CONNECT policy: what some clients may reach. Decides in this order: an address in an odd form is refused; the port must
 * be allowed; a host that {@code deny} has is refused; one that {@code allow} has may be reached; any other is refused.
 * Immutable.
 */
public final class ConnectPolicy {
    static final Decision PORT = Decision.refuse(Cause.POLICY_PORT, "allowedPorts", "the port is not allowed");
    static final Decision ODD =
            Decision.refuse(Cause.POLICY_HOST, "literal", "an address in a form that is not read the same everywhere");
    static final Decision UNLISTED = Decision.refuse(Cause.POLICY_HOST, "allow", "no rule allows this host");

    private final Settings settings;
    private final HostRules allow;
    private final HostRules deny;

    /**
     * What a policy consists of.
     *
     * @param name for people; unique among the policies of one entry
     * @param allow what may be reached, nothing if empty
     * @param deny what may not be reached although {@code allow} has it
     * @param maxTunnels how many tunnels all clients of this policy may have at a time, 0 for no such limit
     */
    public record Settings(
            String name,
            List<PortRange> allowedPorts,
            List<HostRule> allow,
            List<HostRule> deny,
            Sni sni,
            int maxTunnels) {
        public Settings {
            allowedPorts = List.copyOf(allowedPorts);
            allow = List.copyOf(allow);
            deny = List.copyOf(deny);
        }
    }

    /**
     * Makes a policy.
     *
     * @throws IllegalArgumentException if a line of a list has no form that {@link HostRule} names
     */
    public ConnectPolicy(Settings settings) {
        this.settings = settings;
        this.allow = HostRules.of(settings.allow());
        this.deny = HostRules.of(settings.deny());
    }

    /** Returns whether a target may be reached, and which rule says so. */
    public Decision decide(Target target) {
        if (target.odd()) {
            return ODD;
        }
        if (!allowsPort(target.port())) {
            return PORT;
        }
        HostRule denied = deny.match(target);
        if (denied != null) {
            return Decision.refuse(Cause.POLICY_HOST, denied.label(), "a rule denies this host");
        }
        HostRule allowed = allow.match(target);
        return allowed == null ? UNLISTED : Decision.allow(allowed.label());
    }

    /** Whether {@code allow} has the host by its own name, not only as a part of a domain or of everything. */
    boolean names(Target target) {
        HostRule allowed = allow.match(target);
        return allowed != null && allowed.text().equalsIgnoreCase(target.host());
    }

    private boolean allowsPort(int port) {
        List<PortRange> ports = settings.allowedPorts();
        for (int i = 0; i < ports.size(); i++) {
            if (ports.get(i).contains(port)) {
                return true;
            }
        }
        return false;
    }

    /** Returns what the policy consists of. */
    public Settings settings() {
        return settings;
    }
}
