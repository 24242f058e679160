package dev.gateway.config.route;

import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.value.Position;
import java.util.List;

/**
 * Route (HTTPRoute): rules for some hostnames on some listeners. Those are all HTTP or HTTPS, or all TLS or TCP.
 *
 * @param name unique; {@code route-N} if none was written
 * @param parentRefs the listeners it applies to; empty for all HTTP and HTTPS listeners
 * @param hostnames lower case, exact or {@code *.} and one or more labels; empty for all; the names that clients ask for
 *     (SNI) on TLS listeners, always empty on TCP listeners
 * @param rules at least one
 */
public record RouteConfig(
        Position position, String name, List<ParentRef> parentRefs, List<Hostname> hostnames, List<RuleConfig> rules) {
    public RouteConfig {
        parentRefs = List.copyOf(parentRefs);
        hostnames = List.copyOf(hostnames);
        rules = List.copyOf(rules);
    }

    /** Whether it applies to a listener. */
    public boolean appliesTo(ListenerConfig listener) {
        return parentRefs.isEmpty()
                ? listener.isHttp()
                : parentRefs.stream().anyMatch(ref -> ref.name().equals(listener.name()));
    }

    /** Returns what logs and metrics call a rule. */
    public String ruleName(int rule) {
        String given = rules.get(rule).name();
        if (given != null) {
            return name + "/" + given;
        }
        return rules.size() == 1 ? name : name + "/" + (rule + 1);
    }

    /** A listener, by its name. */
    public record ParentRef(Position position, String name) {}

    /** A host name, lower case; {@code *.example.com} stands for all names below. */
    public record Hostname(Position position, String value) {}
}
