package dev.gateway.config.yaml.schema.connect;

import static java.util.Map.entry;

import dev.gateway.config.ConnectConfig;
import dev.gateway.config.ConnectConfig.Access;
import dev.gateway.config.ConnectConfig.Addresses;
import dev.gateway.config.ConnectConfig.Limits;
import dev.gateway.config.ConnectConfig.Pac;
import dev.gateway.config.ConnectConfig.Parent;
import dev.gateway.config.ConnectConfig.Policy;
import dev.gateway.config.ConnectConfig.PolicyLimits;
import dev.gateway.config.ConnectConfig.Rules;
import dev.gateway.config.ConnectConfig.Sni;
import dev.gateway.config.ConnectConfig.Timeouts;
import dev.gateway.config.Destination;
import dev.gateway.config.yaml.schema.route.RouteSchema;
import dev.gateway.config.yaml.schema.route.TunnelTimeoutKeys;
import dev.gateway.config.yaml.type.Key;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ReloadEffect;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import dev.gateway.format.PortRange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** What an entry of the connect section is, key by key. */
public final class ConnectSchema {
    private static final ScalarType<Integer> COUNT = Types.integer(0, 100_000_000);

    private static final ListType<Destination> DESTINATIONS = new ListType<>(DestinationTypes.DESTINATION, 0);

    private static final ListType<Destination> TRUSTED = new ListType<>(DestinationTypes.WITH_OR_WITHOUT_PORT, 0);

    private static final ScalarType<Sni> SNI =
            Types.words(entry("off", Sni.OFF), entry("log", Sni.LOG), entry("mustMatch", Sni.MUST_MATCH));

    /** What may be reached, as an entry and a policy both write it. */
    private record AccessKeys(
            Key<?, List<PortRange>> ports,
            Key<?, List<Destination>> allow,
            Key<?, List<Destination>> deny,
            Key<?, Sni> sni) {

        static <T> AccessKeys declare(ObjectType.Declaration<T> o, Function<T, Access> access) {
            return new AccessKeys(
                    o.defaulted(
                            "allowedPorts",
                            new ListType<>(DestinationTypes.PORT_RANGE, 1),
                            List.of(new PortRange(443, 443)),
                            owner -> access.apply(owner).allowedPorts(),
                            "Ports that clients may reach."),
                    o.defaulted(
                            "allow",
                            DESTINATIONS,
                            List.of(),
                            owner -> access.apply(owner).allow(),
                            "Destinations that clients may reach."),
                    o.defaulted(
                            "deny",
                            DESTINATIONS,
                            List.of(),
                            owner -> access.apply(owner).deny(),
                            "Destinations that clients may not reach, even if allow has them."),
                    o.defaulted(
                            "sni",
                            SNI,
                            Sni.OFF,
                            owner -> access.apply(owner).sni(),
                            "Whether the server name of TLS (SNI) must be the host of the CONNECT. log reports a mismatch."
                                    + " mustMatch ends the tunnel, also if it is not TLS."));
        }

        Access of(Values v) {
            return new Access(v.get(ports), v.get(allow), v.get(deny), v.get(sni));
        }
    }

    private static final ObjectType<PolicyLimits> POLICY_LIMITS =
            ObjectType.of("policy limits section", "Limits of concurrent tunnels.", o -> {
                var tunnels = o.defaulted(
                        "maxTunnels",
                        COUNT,
                        0,
                        PolicyLimits::maxTunnels,
                        "Maximum number of tunnels of all identities of the policy; 0 means no limit.");
                return v -> new PolicyLimits(v.position(), v.get(tunnels));
            });

    private static final ObjectType<Limits> LIMITS =
            ObjectType.of("connect limits section", "Limits of concurrent tunnels; 0 means no limit.", o -> {
                var all = o.defaulted(
                        "maxTunnels", COUNT, 10_000, Limits::maxTunnels, "Maximum number of tunnels of the entry.");
                var client = o.defaulted(
                        "maxTunnelsPerClient",
                        COUNT,
                        1000,
                        Limits::maxTunnelsPerClient,
                        "Maximum number of tunnels of one client address.");
                var identity = o.defaulted(
                        "maxTunnelsPerIdentity",
                        COUNT,
                        1000,
                        Limits::maxTunnelsPerIdentity,
                        "Maximum number of tunnels of one identity.");
                o.foreign("bandwidth rate", "tunnels have no limit of bytes: remove it");
                return v -> new Limits(v.position(), v.get(all), v.get(client), v.get(identity));
            });

    private static final ObjectType<Policy> POLICY = ObjectType.of(
            "policy",
            "What some identities may reach. The first policy that names a client applies. Keys "
                    + "that it does not have come from the entry.",
            o -> {
                var names = new ListType<>(ConnectAuthSchema.IDENTITY, 0);
                var identities = o.defaulted(
                        "identities",
                        names,
                        List.of(),
                        Policy::identities,
                        "Names of users, tokens or client certificates. A policy needs identities or groups.");
                var groups = o.defaulted("groups", names, List.of(), Policy::groups, "Groups of the groupsFile.");
                var access = AccessKeys.declare(o, Policy::access);
                var limits = o.section(
                        "limits",
                        POLICY_LIMITS,
                        Policy::limits,
                        "Limits of concurrent tunnels of all identities of the policy, besides those of the "
                                + "entry.");
                return v -> {
                    if (v.get(identities).isEmpty() && v.get(groups).isEmpty()) {
                        v.error(
                                v.position(),
                                "a policy needs 'identities' or 'groups': the entry itself says what all others may"
                                        + " reach");
                    }
                    return new Policy(v.position(), v.get(identities), v.get(groups), access.of(v), v.get(limits));
                };
            });

    private static final ObjectType<Timeouts> TIMEOUTS =
            ObjectType.of("connect timeouts section", "Time limits of tunnels; 0s means no limit.", o -> {
                var connect = o.defaulted(
                        "connect",
                        Types.DURATION,
                        Duration.ofSeconds(10),
                        Timeouts::connect,
                        "Time to connect, through a parent proxy too, without name resolution.");
                var tunnel = TunnelTimeoutKeys.declare(o, TunnelTimeoutKeys.CONNECT, Timeouts::tunnel, "");
                o.foreign("read readTimeout", "idle");
                return v -> new Timeouts(v.position(), v.get(connect), tunnel.of(v));
            });

    private static final ObjectType<Pac> PAC = ObjectType.of(
            "pac section", "A proxy auto-configuration file, which the gateway makes from the entry.", o -> {
                var path = o.defaulted(
                        "path",
                        Types.text("/[!\"$-;=@-~]*", "a path that begins with '/', without '?', '#' and spaces"),
                        "/proxy.pac",
                        Pac::path,
                        "Path where the listener serves the file.");
                return v -> new Pac(v.position(), v.get(path));
            });

    /** An entry of the connect section. */
    public static final ObjectType<ConnectConfig> CONNECT = ObjectType.of(
            "connect entry",
            "Who may reach which hosts through some listeners. The gateway checks allowedPorts, "
                    + "deny and allow in this order. It checks denyPrivate against the address that it " + "dials.",
            o -> {
                var name = o.optional(
                        "name",
                        Types.NAME,
                        ConnectConfig::name,
                        "Unique name of the entry, for logs and metrics. The default is connect-N.");
                var parents = o.required(
                        "parentRefs",
                        new ListType<>(RouteSchema.PARENT_REF, 1),
                        ConnectConfig::parentRefs,
                        "HTTP and HTTPS listeners that the entry applies to. A listener has at most one entry.");
                var access = AccessKeys.declare(o, entry -> entry.rules().access());
                var denyPrivate = o.defaulted(
                        "denyPrivate",
                        Types.BOOLEAN,
                        true,
                        entry -> entry.rules().addresses().denyPrivate(),
                        "Refuses addresses that are not public, whatever name leads there. These are "
                                + "loopback, link-local, private networks, cloud metadata and others.");
                var trusted = o.defaulted(
                        "trustedDestinations",
                        TRUSTED,
                        List.of(),
                        entry -> entry.rules().addresses().trustedDestinations(),
                        "Destinations that denyPrivate does not refuse. They still need to be allowed. A "
                                + "listener of this gateway is refused unless this list has it with its port, as "
                                + "127.0.0.1:9901.");
                var audit = o.defaulted(
                        "audit",
                        Types.BOOLEAN,
                        false,
                        entry -> entry.rules().audit(),
                        "Logs what the entry would refuse, and lets it through. What denyPrivate refuses "
                                + "stays refused.");
                var auth = o.optional("auth", ConnectAuthSchema.AUTH, ConnectConfig::auth, "How clients authenticate.");
                var policies = o.defaulted(
                        "policies",
                        new ListType<>(POLICY, 0),
                        List.of(),
                        entry -> entry.rules().policies(),
                        "What some identities may reach. The first policy that names the client applies.");
                var limits =
                        o.section("limits", LIMITS, entry -> entry.rules().limits(), "Limits of concurrent tunnels.");
                var proxies = o.onReload(ReloadEffect.RECONNECT)
                        .defaulted(
                                "parents",
                                new ListType<Parent>(ParentSchema.PARENT, 0),
                                List.of(),
                                ConnectConfig::parents,
                                "Parent proxies by host. The first match applies. Without a match the gateway "
                                        + "connects directly.");
                var timeouts = o.section("timeouts", TIMEOUTS, ConnectConfig::timeouts, "Time limits of tunnels.");
                var pac = o.optional("pac", PAC, ConnectConfig::pac, "A proxy auto-configuration file for clients.");
                return v -> {
                    String given = v.find(name);
                    Access own = access.of(v);
                    List<Policy> complete = complete(v.get(policies), own, v);
                    if (!v.get(audit) && v.isList("allow") && v.isList("policies")) {
                        checkAllowed(v, own, complete);
                    }
                    return new ConnectConfig(
                            v.position(),
                            given == null ? "" : given,
                            v.get(parents),
                            v.find(auth),
                            new Rules(
                                    own,
                                    complete,
                                    v.get(limits),
                                    new Addresses(v.get(denyPrivate), v.get(trusted)),
                                    v.get(audit)),
                            v.get(proxies),
                            v.get(timeouts),
                            v.find(pac));
                };
            });

    private ConnectSchema() {}

    /** Lets policies say what they were not asked to: the same as their entry. */
    private static List<Policy> complete(List<Policy> policies, Access entry, Values v) {
        List<Policy> complete = new ArrayList<>();
        for (Policy policy : policies) {
            Access own = policy.access();
            Access access = new Access(
                    v.wrote(policy, "allowedPorts") ? own.allowedPorts() : entry.allowedPorts(),
                    v.wrote(policy, "allow") ? own.allow() : entry.allow(),
                    v.wrote(policy, "deny") ? own.deny() : entry.deny(),
                    v.wrote(policy, "sni") ? own.sni() : entry.sni());
            Policy result =
                    new Policy(policy.position(), policy.identities(), policy.groups(), access, policy.limits());
            v.inherit(result, policy);
            complete.add(result);
        }
        return complete;
    }

    private static void checkAllowed(Values v, Access own, List<Policy> policies) {
        if (Destinations.isAnyAllowed(own)
                || policies.stream().anyMatch(policy -> Destinations.isAnyAllowed(policy.access()))) {
            return;
        }
        v.error(
                v.at("allow"),
                own.allow().isEmpty()
                        ? "nothing is allowed: write the hosts that may be reached as 'allow'"
                        : "nothing is allowed: 'deny' in line " + v.at("deny").line() + " has all of it");
    }

    /** Gives each entry without a name one by its position. */
    public static List<ConnectConfig> named(List<ConnectConfig> entries, Values v) {
        List<ConnectConfig> named = new ArrayList<>();
        for (ConnectConfig entry : entries) {
            ConnectConfig result = entry;
            if (entry.name().isEmpty()) {
                result = new ConnectConfig(
                        entry.position(),
                        "connect-" + (named.size() + 1),
                        entry.parentRefs(),
                        entry.auth(),
                        entry.rules(),
                        entry.parents(),
                        entry.timeouts(),
                        entry.pac());
                v.inherit(result, entry);
            }
            named.add(result);
        }
        return named;
    }
}
