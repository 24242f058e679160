package dev.gateway.config.yaml.check;

import dev.gateway.config.ConnectConfig;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.StoreConfig;
import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.filter.FilterConfig.UpstreamRef;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.config.route.RuleConfig;
import dev.gateway.config.route.RuleConfig.BackendRef;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.schema.observe.OtlpChecks;
import dev.gateway.config.yaml.type.MessageText;
import dev.gateway.config.yaml.type.Node;
import dev.gateway.config.yaml.type.Scope;
import dev.gateway.config.yaml.type.Suggestions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * Semantic validation. What must be so between the parts of a configuration: names are unique, and references lead
 * somewhere.
 */
public final class Checks {
    private final GatewayConfig config;
    private final Scope scope;

    private final Node.Mapping root;
    private final Set<String> unsure;

    private Checks(GatewayConfig config, Scope scope, Node.Mapping root, Set<String> unsure) {
        this.config = config;
        this.scope = scope;
        this.root = root;
        this.unsure = unsure;
    }

    /**
     * Adds what is wrong with a configuration as a whole to the problems of the scope.
     *
     * @param unsure sections that have less than was meant, which was reported
     */
    public static void run(GatewayConfig config, Scope scope, Node.Mapping root, Set<String> unsure) {
        Checks checks = new Checks(config, scope, root, unsure);
        checks.unique("listener", config.listeners(), ListenerConfig::name);
        checks.unique("route", config.routes(), RouteConfig::name);
        checks.unique("upstream", config.upstreams(), UpstreamConfig::name);
        checks.unique("store", config.stores(), StoreConfig::name);
        checks.unique("connect entry", config.connect(), ConnectConfig::name);
        checks.references();
        checks.stores();
        checks.stateDirectory();
        AddressChecks.run(config, scope);
        AdminChecks.run(config.admin(), scope);
        AdminEndpointChecks.run(config, scope);
        CertificateChecks.run(config, scope);
        if (!scope.problems.hasErrors()) { // a misspelt key may be what protects a listener
            CleartextChecks.run(config, scope);
        }
        EffectChecks.run(config, scope);
        IdleChecks.run(config, scope);
        OtlpChecks.run(config, scope);
        RouteChecks.run(config, scope);
        UpgradeChecks.run(config, scope);
        TunnelChecks.run(config, scope, !checks.unreadable("routes"));
        ConnectChecks.run(config, scope);
        SessionChecks.run(config, scope);
        StoreChecks.run(config, scope);
        TimeLimitChecks.run(config, scope);
        ZoneChecks.run(config, scope);
        FileModeChecks.run(root, scope);
    }

    private <T extends Record> void unique(String what, List<T> items, Function<T, String> name) {
        Map<String, T> seen = new HashMap<>();
        for (T item : items) {
            T first = name.apply(item).isEmpty() ? null : seen.putIfAbsent(name.apply(item), item);
            if (first != null) {
                Position at = scope.at(item, "name");
                Position before = scope.at(first, "name");
                scope.problems.error(
                        at,
                        "duplicate " + what + " '" + name.apply(item) + "': first defined in " + before.seenFrom(at));
            }
        }
    }

    private void references() {
        Set<String> listeners = new HashSet<>();
        config.listeners().forEach(listener -> listeners.add(listener.name()));
        Set<String> upstreams = new HashSet<>();
        config.upstreams().forEach(upstream -> upstreams.add(upstream.name()));
        Set<String> used = new HashSet<>();
        for (RouteConfig route : config.routes()) {
            route.parentRefs().forEach(ref -> resolve("listener", ref, ref.name(), listeners));
            for (RuleConfig rule : route.rules()) {
                for (BackendRef ref : rule.forwarding().backendRefs()) {
                    resolve("upstream", ref, ref.name(), upstreams);
                    used.add(ref.name());
                }
                for (FilterConfig filter : rule.filters()) {
                    for (UpstreamRef ref : filter.upstreams()) {
                        resolve("upstream", ref, ref.name(), upstreams);
                        used.add(ref.name());
                    }
                }
            }
        }
        for (ConnectConfig connect : config.connect()) {
            connect.parentRefs().forEach(ref -> resolve("listener", ref, ref.name(), listeners));
        }
        boolean readable = areRoutesReadable();
        for (UpstreamConfig upstream : config.upstreams()) {
            if (!upstream.name().isEmpty() && !used.contains(upstream.name()) && readable) {
                scope.problems.warning(
                        scope.at(upstream, "name"), "no route uses the upstream '" + upstream.name() + "'");
            }
        }
        if (config.routes().isEmpty()
                && config.connect().isEmpty()
                && !unreadable("routes")
                && !unreadable("connect")) {
            scope.problems.warning(
                    config.position(), "there are no routes: the gateway answers every request with 404");
        }
    }

    /** Whether a section is not the list it should be, or its key is misspelt: either is problem enough. */
    private boolean unreadable(String section) {
        Node.Entry entry = root.entries().get(section);
        return unsure.contains(section) || (entry != null && !(entry.value() instanceof Node.Sequence));
    }

    /** Whether routes show all that they use. */
    private boolean areRoutesReadable() {
        Node.Entry routes = root.entries().get("routes");
        if (unreadable("routes") || routes == null) {
            return !unreadable("routes");
        }
        return !scope.problems.isAnythingUnreadable(routes.value());
    }

    private void stores() {
        Set<String> stores = new HashSet<>();
        config.stores().forEach(store -> stores.add(store.name()));
        Set<String> used = new HashSet<>();
        config.routes().stream()
                .flatMap(route -> route.rules().stream())
                .flatMap(rule -> rule.filters().stream())
                .flatMap(filter -> filter.stores().stream())
                .forEach(ref -> {
                    resolve("store", ref.by(), "store", ref.name(), stores);
                    used.add(ref.name());
                });
        boolean readable = areRoutesReadable();
        for (StoreConfig store : config.stores()) {
            if (!store.name().isEmpty() && !used.contains(store.name()) && readable) {
                scope.problems.warning(scope.at(store, "name"), "no limit uses the store '" + store.name() + "'");
            }
        }
    }

    /** A directory that does not exist is no mistake: the gateway creates it. */
    private void stateDirectory() {
        Path directory = config.stateDirectory();
        if (directory == null || !Files.exists(directory)) {
            return;
        }
        Position at = scope.at(config, "stateDirectory");
        if (!Files.isDirectory(directory)) {
            scope.problems.error(
                    at, "stateDirectory: " + directory + " is a file: name a directory of the gateway's own");
        } else if (FileModeChecks.isForAllToWrite(directory)) {
            scope.problems.warning(
                    at,
                    "stateDirectory: every user of this machine may write " + directory
                            + ": 'chmod o-w' prevents that");
        }
    }

    private void resolve(String what, Record reference, String name, Set<String> known) {
        resolve(what, reference, "name", name, known);
    }

    private void resolve(String what, Record reference, String key, String name, Set<String> known) {
        // One whose name could not be read may be the one that is meant.
        if (name.isEmpty() || known.contains(name) || known.contains("") || unreadable(what + "s")) {
            return;
        }
        String near = Suggestions.nearest(name, known);
        String hint;
        if (near != null) {
            hint = ": did you mean '" + near + "'?";
        } else if (known.isEmpty()) {
            hint = ": the configuration has none";
        } else if (known.size() == 1) {
            hint = ": the only one is '" + known.iterator().next() + "'";
        } else {
            hint = ": there are "
                    + MessageText.shorten(
                            String.join(", ", known.stream().sorted().toList()));
        }
        scope.problems.error(scope.at(reference, key), "no " + what + " is named '" + name + "'" + hint);
    }
}
