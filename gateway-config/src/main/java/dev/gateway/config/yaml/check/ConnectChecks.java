package dev.gateway.config.yaml.check;

import dev.gateway.config.AdminConfig;
import dev.gateway.config.ConnectConfig;
import dev.gateway.config.ConnectConfig.Access;
import dev.gateway.config.ConnectConfig.Parent;
import dev.gateway.config.ConnectConfig.Policy;
import dev.gateway.config.ConnectConfig.Sni;
import dev.gateway.config.Destination;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.schema.connect.Destinations;
import dev.gateway.config.yaml.type.InvalidException;
import dev.gateway.config.yaml.type.Scope;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/** Entries of the connect section allow something, nothing in them is without effect, and none is open to everybody. */
final class ConnectChecks {
    private final Scope scope;
    private final ConnectConfig entry;
    private final List<ListenerConfig> listeners;

    private ConnectChecks(Scope scope, ConnectConfig entry, List<ListenerConfig> listeners) {
        this.scope = scope;
        this.entry = entry;
        this.listeners = listeners;
    }

    static void run(GatewayConfig config, Scope scope) {
        for (ConnectConfig entry : config.connect()) {
            List<ListenerConfig> listeners = config.listeners().stream()
                    .filter(listener -> entry.parentRefs().stream()
                            .anyMatch(ref -> ref.name().equals(listener.name())))
                    .toList();
            ConnectChecks checks = new ConnectChecks(scope, entry, listeners);
            checks.name("route", config.routes().stream(), RouteConfig::name);
            checks.name("upstream", config.upstreams().stream(), UpstreamConfig::name);
            checks.routes(config.routes());
            checks.access(entry, entry.rules().access());
            entry.rules().policies().forEach(policy -> checks.access(policy, policy.access()));
            checks.trusted();
            checks.ownListeners(config);
            checks.openToEverybody();
            checks.limits();
            checks.parents();
            ConnectAuthChecks.run(entry, listeners, scope);
        }
    }

    /** They are labels of the same metrics. */
    private <T extends Record> void name(String what, Stream<T> others, Function<T, String> nameOf) {
        others.filter(other -> nameOf.apply(other).equals(entry.name()))
                .findFirst()
                .ifPresent(other -> scope.problems.error(
                        scope.at(entry, "name"),
                        "the " + what + " in " + scope.at(other, "name").seenFrom(entry.position()) + " is named '"
                                + entry.name() + "' too: logs and metrics could not tell them apart"));
    }

    /** Requests for URLs of other hosts come here only if no route takes them. */
    private void routes(List<RouteConfig> routes) {
        for (RouteConfig route : routes) {
            for (ListenerConfig listener : listeners) {
                if (route.parentRefs().isEmpty() && route.hostnames().isEmpty() && route.appliesTo(listener)) {
                    warning(
                            route.position(),
                            "without parentRefs this route is for listener '" + listener.name()
                                    + "' too, and takes requests for http:// URLs before 'connect' does");
                    break;
                }
            }
        }
    }

    /** Checks what an entry or a policy wrote itself. */
    private void access(Record owner, Access access) {
        if (scope.wrote(owner, "allow")) {
            for (Destination each : access.allow()) {
                Destination denied = Destinations.covering(access.deny(), each);
                if (denied != null && Destinations.isAnyAllowed(access)) {
                    warning(
                            each.position(),
                            "'" + each.text() + "' is never allowed: deny has '" + denied.text() + "' in line "
                                    + denied.position().line() + ", and comes first");
                }
                privately(each);
                if (each instanceof Destination.Name name && name.host().matches("all|any")) {
                    warning(each.position(), "this is the host named '" + name.host() + "': write '*' for all hosts");
                }
            }
        }
        boolean compares = access.sni() != Sni.OFF && scope.wrote(owner, "sni");
        if (compares
                && !access.allow().isEmpty()
                && access.allow().stream().allMatch(each -> each instanceof Destination.Block)) {
            warning(
                    scope.at(owner, "sni"),
                    "sni has nothing to compare: allow has only addresses, for which TLS clients send no server name");
        }
    }

    private void privately(Destination allowed) {
        if (entry.rules().addresses().denyPrivate()
                && Destinations.isPrivate(allowed)
                && !Destinations.isTrusted(allowed, entry.rules().addresses().trustedDestinations())) {
            warning(
                    allowed.position(),
                    "'" + allowed.text() + "' is private, and denyPrivate refuses it: add it to trustedDestinations");
        }
    }

    private void trusted() {
        for (Destination each : entry.rules().addresses().trustedDestinations()) {
            if (each instanceof Destination.Any) {
                scope.problems.error(each.position(), "trustedDestinations: write denyPrivate: false to trust all");
            }
        }
        if (entry.rules().addresses().denyPrivate()) {
            return;
        }
        if (entry.rules().addresses().trustedDestinations().stream()
                .anyMatch(each -> !(each instanceof Destination.HostAndPort))) {
            warning(
                    scope.at(entry, "trustedDestinations"),
                    "trustedDestinations without a port have no effect with denyPrivate: false");
        }
        boolean open = Destinations.isAnyAllowed(entry.rules().access())
                && !Destinations.haveLoopback(entry.rules().access().deny());
        if (open
                && entry.rules().access().allow().stream()
                        .anyMatch(each -> each instanceof Destination.Any || each instanceof Destination.Domain)) {
            warning(
                    scope.at(entry, "denyPrivate"),
                    "denyPrivate: false lets clients reach what listens on this machine only, and cloud metadata:"
                            + " add 127.0.0.0/8, ::1 and 169.254.0.0/16 to 'deny', or write denyPrivate: true and name"
                            + " your networks as trustedDestinations");
        }
    }

    /** A tunnel to a listener of ours bypasses that listener's rules; one to admin could stop the gateway. */
    private void ownListeners(GatewayConfig config) {
        AdminConfig admin = config.admin();
        for (Destination each : entry.rules().addresses().trustedDestinations()) {
            if (each instanceof Destination.HostAndPort one) {
                String what = admin != null && admin.enabled() && admin.bind().hasPort(one.port())
                        ? "the admin listener"
                        : config.listeners().stream()
                                .filter(listener -> listener.bind().hasPort(one.port()))
                                .map(listener -> "listener '" + listener.name() + "'")
                                .findFirst()
                                .orElse(null);
                if (what != null) {
                    warning(
                            each.position(),
                            "clients of this entry may reach " + what
                                    + " as if they were on this machine, if this is its address");
                }
            }
        }
    }

    private void openToEverybody() {
        Destination any = entry.rules().access().allow().stream()
                .filter(each -> each instanceof Destination.Any)
                .findFirst()
                .orElse(null);
        boolean everywhere = any != null || entry.rules().audit();
        if (!everywhere || entry.auth() != null) {
            return;
        }
        for (ListenerConfig listener : listeners) {
            if (listener.bind().unix() == null
                    && !AddressChecks.isLoopback(listener.bind().address())) {
                warning(
                        any == null ? scope.at(entry, "audit") : any.position(),
                        "anyone who can connect to listener '" + listener.name()
                                + "' can reach every host through it: add 'auth'"
                                + (any == null ? "" : ", name the hosts,") + " or bind it to 127.0.0.1");
                return;
            }
        }
    }

    private void limits() {
        int all = entry.rules().limits().maxTunnels();
        for (Policy policy : entry.rules().policies()) {
            if (all > 0 && policy.limits().maxTunnels() > all) {
                warning(
                        scope.at(policy.limits(), "maxTunnels"),
                        "maxTunnels has no effect: the entry allows no more than " + all + " in all");
            }
        }
    }

    private void parents() {
        List<Destination> before = new ArrayList<>();
        for (Parent parent : entry.parents()) {
            for (Destination host : parent.hosts()) {
                Destination first = Destinations.covering(before, host);
                if (first != null) {
                    warning(
                            host.position(),
                            "'" + host.text() + "' never reaches this entry: line "
                                    + first.position().line() + " has '" + first.text() + "', and comes first");
                }
            }
            before.addAll(parent.hosts());
            ConnectConfig.Proxy proxy = parent.proxy();
            if (proxy != null && proxy.credentialsFile() != null) {
                try {
                    AccountNames.credentials(proxy.credentialsFile(), proxy.kind() == ConnectConfig.Proxy.Kind.SOCKS5);
                } catch (InvalidException e) {
                    scope.problems.error(scope.at(parent, "credentialsFile"), "credentialsFile: " + e.getMessage());
                }
            }
        }
    }

    private void warning(Position position, String message) {
        scope.problems.warning(position, message);
    }
}
