package dev.gateway.connect.assembly;

import dev.gateway.config.ConnectConfig;
import dev.gateway.config.ConnectConfig.Proxy.Kind;
import dev.gateway.config.Destination;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.upstream.UpstreamConfig.SendProxyProtocol;
import dev.gateway.config.value.Position;
import dev.gateway.connect.AddressRules;
import dev.gateway.connect.ConnectPolicy;
import dev.gateway.connect.ConnectRules;
import dev.gateway.connect.ConnectTally;
import dev.gateway.connect.HostRule;
import dev.gateway.connect.HostRules;
import dev.gateway.connect.ParentRules;
import dev.gateway.connect.Policies;
import dev.gateway.connect.ProxyAutoConfig;
import dev.gateway.connect.ProxyAutoConfigFile;
import dev.gateway.connect.SniCheck;
import dev.gateway.connect.TunnelLimits;
import dev.gateway.connect.ViaLoopDetector;
import dev.gateway.exchange.route.Route;
import dev.gateway.exchange.route.Router;
import dev.gateway.exchange.route.RouterBuilder;
import dev.gateway.files.InputFile;
import dev.gateway.files.StartException;
import dev.gateway.filter.Filter;
import dev.gateway.filter.auth.AuthFileException;
import dev.gateway.filter.auth.ProxyAuthentication;
import dev.gateway.format.AccountFile;
import dev.gateway.format.AccountFile.NameAndPassword;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.NamedByRequest;
import dev.gateway.upstream.dial.DialSettings;
import dev.gateway.upstream.dial.ParentProxy;
import dev.gateway.upstream.dial.UpstreamSettings;
import io.netty.util.AsciiString;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * CONNECT policy factory. Turns an entry of the connect section into what serves it: a route that every CONNECT of its
 * listeners takes, and the upstreams that the route leads to.
 */
public final class ConnectAssembly {
    /** Of plain requests; what nothing is configured for is as in a route. */
    private static final long STREAM_IDLE_MILLIS = 300_000;

    private static final Duration RESPONSE_HEADERS = Duration.ofMinutes(1);
    private static final Duration POOL_IDLE = Duration.ofMinutes(1);
    private static final Duration POOL_LIFETIME = Duration.ofHours(1);

    private final ConnectConfig config;
    private final ConnectShared state;
    private final ConnectTally tally;
    private final Map<ConnectPolicy, Way> ways = new LinkedHashMap<>();
    private @Nullable ProxyAuthentication login;

    private ConnectAssembly(ConnectConfig config, ConnectShared state) {
        this.config = config;
        this.state = state;
        this.tally = state.tally(config.name());
    }

    /**
     * The upstream of a policy's destinations, and the address rules that apply when it dials. A dial does not know its
     * client, so each set of denied blocks has an upstream of its own.
     */
    private record Way(AddressRules addresses, Upstream upstream) {}

    /** Reads files of users and credentials, and makes the entry. */
    public static ConnectEntry entry(ConnectConfig config, ConnectShared state) throws StartException {
        try {
            return new ConnectAssembly(config, state).entry();
        } catch (IOException | AuthFileException | IllegalArgumentException e) {
            throw StartException.at(config.position(), e);
        }
    }

    /** Whether an entry reads files that nobody looks at again. */
    public static boolean hasCredentials(ConnectConfig config) {
        return config.parents().stream()
                .anyMatch(parent -> parent.proxy() != null && parent.proxy().credentialsFile() != null);
    }

    /** Returns what logs and metrics call the page that tells clients of an entry, if it has one. */
    public static String pageName(ConnectConfig config) {
        return config.name() + "/pac";
    }

    private ConnectEntry entry() throws IOException, AuthFileException {
        Policies policies = policies();
        Route route = new Route(
                config.name(),
                filters(policies),
                Route.Forwarding.to(client -> way(policies.of(client)).upstream),
                new Route.Timeouts(0, 0, STREAM_IDLE_MILLIS, config.timeouts().tunnel()),
                Route.Upgrades.NONE);
        Router tunnels = new RouterBuilder().add(List.of(), List.of(), route).build();
        ProxyAutoConfig clients =
                new ProxyAutoConfig(policies, addressSettings(config.rules().access()));
        List<Upstream> upstreams =
                ways.values().stream().map(Way::upstream).distinct().toList();
        return new ConnectEntry(tunnels, upstreams, policies, tally, clients, page(clients), login);
    }

    private Way way(ConnectPolicy policy) {
        return Objects.requireNonNull(ways.get(policy));
    }

    private ConnectEntry.@Nullable Page page(ProxyAutoConfig clients) {
        if (config.pac() == null) {
            return null;
        }
        Route route = new Route(
                pageName(config),
                List.of(new ProxyAutoConfigFile(clients)),
                Route.Forwarding.NONE,
                Route.Timeouts.NONE,
                Route.Upgrades.NONE);
        return new ConnectEntry.Page(new AsciiString(config.pac().path()), new Router.Match(route, 0));
    }

    /** Returns the filters of an entry in the order in which they run, each with the reason for its place. */
    private List<Filter> filters(Policies policies) throws AuthFileException {
        List<Filter> filters = new ArrayList<>();
        ConnectConfig.Auth auth = config.auth();
        if (auth != null) {
            login = new ProxyAuthentication(auth, state.work(), state.caches());
            // First: what follows may depend on who the client is, and strangers learn nothing from its answers.
            filters.add(login);
        }
        // Before the rules, which have let the same request pass before.
        filters.add(new ViaLoopDetector(state.ofEntry(config.name())));
        // Who may reach what; a refused request takes no place among the tunnels.
        filters.add(new ConnectRules(
                policies, policy -> way(policy).addresses, tally, config.rules().audit()));
        // After all that refuses requests for other reasons, so that only what goes upstream is counted.
        filters.add(new TunnelLimits(config.rules().limits(), policies, tally.tunnels()));
        // Looks at bytes, not at the head, so its place matters least.
        filters.add(new SniCheck(policies, tally, config.rules().audit()));
        return filters;
    }

    private Policies policies() throws IOException {
        Map<Set<String>, Way> byDenied = new HashMap<>();
        List<Policies.Assigned> assigned = assigned(config);
        for (int i = 0; i < assigned.size(); i++) {
            ways.put(
                    assigned.get(i).policy(),
                    way(config.rules().policies().get(i).access(), byDenied));
        }
        ConnectPolicy otherwise = otherwise(config);
        ways.put(otherwise, way(config.rules().access(), byDenied));
        return new Policies(otherwise, assigned);
    }

    /** Makes the policies of an entry; their rules have labels that lead an explanation back to the file. */
    public static Policies policies(ConnectConfig config) {
        return new Policies(otherwise(config), assigned(config));
    }

    private static ConnectPolicy otherwise(ConnectConfig config) {
        return policy(config.name(), config.rules().access(), config.rules().access(), "", 0);
    }

    private static List<Policies.Assigned> assigned(ConnectConfig config) {
        List<Policies.Assigned> assigned = new ArrayList<>();
        for (ConnectConfig.Policy each : config.rules().policies()) {
            String label = "policies[" + assigned.size() + "]";
            ConnectPolicy policy = policy(
                    config.name() + "/" + label,
                    each.access(),
                    config.rules().access(),
                    label + ".",
                    each.limits().maxTunnels());
            assigned.add(new Policies.Assigned(Set.copyOf(each.identities()), Set.copyOf(each.groups()), policy));
        }
        return assigned;
    }

    private Way way(ConnectConfig.Access access, Map<Set<String>, Way> byDenied) throws IOException {
        Set<String> blocks = access.deny().stream()
                .filter(Destination.Block.class::isInstance)
                .map(Destination::text)
                .collect(Collectors.toSet());
        Way way = byDenied.get(blocks);
        if (way == null) {
            AddressRules addresses = new AddressRules(addressSettings(access), state.own(), tally);
            way = new Way(
                    addresses,
                    new Upstream(config.name(), List.of(), NamedByRequest.POLICY, upstreamSettings(addresses)));
            byDenied.put(blocks, way);
        }
        return way;
    }

    private static ConnectPolicy policy(
            String name, ConnectConfig.Access access, ConnectConfig.Access entry, String label, int maxTunnels) {
        return new ConnectPolicy(new ConnectPolicy.Settings(
                name,
                access.allowedPorts(),
                // What a policy does not say is the entry's, and is called so.
                rules(access.allow(), (access.allow().equals(entry.allow()) ? "" : label) + "allow"),
                rules(access.deny(), (access.deny().equals(entry.deny()) ? "" : label) + "deny"),
                access.sni(),
                maxTunnels));
    }

    private static List<HostRule> rules(List<Destination> destinations, String label) {
        List<HostRule> rules = new ArrayList<>();
        for (Destination each : destinations) {
            rules.add(new HostRule(each.text(), label + "[" + rules.size() + "]"));
        }
        return rules;
    }

    /** No limits but those of tunnels, which the policies have. */
    private UpstreamSettings upstreamSettings(AddressRules addresses) throws IOException {
        Duration connect = config.timeouts().connect();
        return new UpstreamSettings(
                UpstreamConfig.Protocol.AUTO,
                null,
                UpstreamConfig.CircuitBreaker.NONE,
                new UpstreamConfig.Timeouts(
                        config.position(), connect, connect, Duration.ZERO, RESPONSE_HEADERS, POOL_IDLE, POOL_LIFETIME),
                new DialSettings(addresses, parents(), SendProxyProtocol.NONE));
    }

    private AddressRules.Settings addressSettings(ConnectConfig.Access access) {
        return addressSettings(config, access);
    }

    /** Returns what is judged of the addresses that tunnels of those would lead to who have an access. */
    public static AddressRules.Settings addressSettings(ConnectConfig config, ConnectConfig.Access access) {
        String listeners =
                config.parentRefs().stream().map(RouteConfig.ParentRef::name).collect(Collectors.joining(","));
        List<Destination> withoutPort = new ArrayList<>();
        List<Destination.HostAndPort> withPort = new ArrayList<>();
        for (Destination each : config.rules().addresses().trustedDestinations()) {
            if (each instanceof Destination.HostAndPort one) {
                withPort.add(one);
            } else {
                withoutPort.add(each);
            }
        }
        return new AddressRules.Settings(
                listeners,
                config.rules().addresses().denyPrivate(),
                rules(withoutPort, "trustedDestinations"),
                withPort,
                rules(access.deny(), "deny"),
                config.rules().audit());
    }

    /** Whether another proxy connects to a host instead of this gateway. */
    public static boolean hasParent(ConnectConfig config, String host, @Nullable InetAddress address) {
        for (ConnectConfig.Parent each : config.parents()) {
            if (HostRules.of(rules(each.hosts(), "parents")).match(host, address) != null) {
                return each.proxy() != null;
            }
        }
        return false;
    }

    private ParentRules parents() throws IOException {
        List<ParentRules.Rule> parents = new ArrayList<>();
        for (ConnectConfig.Parent each : config.parents()) {
            List<HostRule> hosts = rules(each.hosts(), "parents[" + parents.size() + "]");
            parents.add(new ParentRules.Rule(HostRules.of(hosts), parent(each.proxy())));
        }
        return new ParentRules(parents, state.own());
    }

    private @Nullable ParentProxy parent(ConnectConfig.@Nullable Proxy proxy) throws IOException {
        if (proxy == null) {
            return null;
        }
        return new ParentProxy(
                proxy.kind(),
                proxy.host(),
                proxy.port(),
                proxy.credentialsFile() == null
                        ? null
                        : credentials(proxy.credentialsFile(), proxy.kind() == Kind.SOCKS5),
                tls(proxy));
    }

    /** Returns it without its place in the file: what is said of one proxy at two places is one proxy. */
    private static UpstreamConfig.@Nullable Tls tls(ConnectConfig.Proxy proxy) {
        if (proxy.kind() != Kind.HTTPS) {
            return null;
        }
        return proxy.tls() == null
                ? UpstreamConfig.Tls.verified(Position.NOWHERE, null)
                : proxy.tls().at(Position.NOWHERE);
    }

    private static NameAndPassword credentials(Path file, boolean socks) throws IOException {
        String text = InputFile.text(file, StandardCharsets.UTF_8, (long) AccountFile.MAX_MEBIBYTES << 20);
        return AccountFile.nameAndPassword(file, text, socks);
    }
}
