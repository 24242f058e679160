package dev.gateway.config.yaml.schema;

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
import dev.gateway.config.yaml.type.DestinationTypes;
import dev.gateway.config.yaml.type.Destinations;
import dev.gateway.config.yaml.type.Key;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import dev.gateway.config.yaml.type.Values;
import dev.gateway.format.PortRange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** What an entry of the connect section is, key by key. */
final class ConnectSchema {
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
                            "Ports that may be reached: 443, or 8000-8999."),
                    o.defaulted(
                            "allow",
                            DESTINATIONS,
                            List.of(),
                            owner -> access.apply(owner).allow(),
                            "Hosts that may be reached: a name, .example.com for the domain and all names below it, an"
                                    + " address block, or '*'."),
                    o.defaulted(
                            "deny",
                            DESTINATIONS,
                            List.of(),
                            owner -> access.apply(owner).deny(),
                            "Hosts that may not be reached, whatever allow says."),
                    o.defaulted(
                            "sni",
                            SNI,
                            Sni.OFF,
                            owner -> access.apply(owner).sni(),
                            "Whether the name that TLS asks for must be that of the CONNECT: log says where it is not,"
                                    + " mustMatch refuses it, and what is not TLS."));
        }

        Access of(Values v) {
            return new Access(v.get(ports), v.get(allow), v.get(deny), v.get(sni));
        }
    }

    private static final ObjectType<PolicyLimits> POLICY_LIMITS =
            ObjectType.of("policy limits section", "How many tunnels may be open at once.", o -> {
                var tunnels = o.defaulted(
                        "maxTunnels", COUNT, 0, PolicyLimits::maxTunnels, "Of all that it names; 0 is no limit.");
                return v -> new PolicyLimits(v.position(), v.get(tunnels));
            });

    private static final ObjectType<Limits> LIMITS =
            ObjectType.of("connect limits section", "How many tunnels may be open at once; 0 is no limit.", o -> {
                var all = o.defaulted("maxTunnels", COUNT, 10_000, Limits::maxTunnels, "In all.");
                var client = o.defaulted(
                        "maxTunnelsPerClient", COUNT, 1000, Limits::maxTunnelsPerClient, "Of one client address.");
                var identity = o.defaulted(
                        "maxTunnelsPerIdentity", COUNT, 1000, Limits::maxTunnelsPerIdentity, "Of one identity.");
                return v -> new Limits(v.position(), v.get(all), v.get(client), v.get(identity));
            });

    private static final ObjectType<Policy> POLICY = ObjectType.of(
            "policy",
            "What some identities may reach. The first policy that names a client is the one; what it does not say, the"
                    + " entry does.",
            o -> {
                var names = new ListType<>(ConnectAuthSchema.IDENTITY, 0);
                var identities = o.defaulted(
                        "identities", names, List.of(), Policy::identities, "Names of users, tokens or certificates.");
                var groups = o.defaulted("groups", names, List.of(), Policy::groups, "Groups of the groupsFile.");
                var access = AccessKeys.declare(o, Policy::access);
                var limits = o.section(
                        "limits",
                        POLICY_LIMITS,
                        Policy::limits,
                        "How many tunnels all that it names may have open at once, besides the limits of the entry.");
                return v -> {
                    if (v.get(identities).isEmpty() && v.get(groups).isEmpty()) {
                        v.error(
                                v.position(),
                                "a policy needs 'identities' or 'groups': what everybody else may reach is said by the"
                                        + " entry itself");
                    }
                    return new Policy(v.position(), v.get(identities), v.get(groups), access.of(v), v.get(limits));
                };
            });

    private static final ObjectType<Timeouts> TIMEOUTS =
            ObjectType.of("connect timeouts section", "Time limits of tunnels; 0s is none.", o -> {
                var connect = o.defaulted(
                        "connect",
                        Types.DURATION,
                        Duration.ofSeconds(10),
                        Timeouts::connect,
                        "Connecting, through a parent too; without name resolution.");
                var tunnel = TunnelTimeoutKeys.declare(o, TunnelTimeoutKeys.CONNECT, Timeouts::tunnel, "");
                return v -> new Timeouts(v.position(), v.get(connect), tunnel.of(v));
            });

    private static final ObjectType<Pac> PAC =
            ObjectType.of("pac section", "A proxy auto-configuration file, made of the entry.", o -> {
                var path = o.defaulted(
                        "path",
                        Types.text("/[!\"$-;=@-~]*", "a path that begins with '/', without '?', '#' and spaces"),
                        "/proxy.pac",
                        Pac::path,
                        "Where it is served.");
                return v -> new Pac(v.position(), v.get(path));
            });

    /** An entry of the connect section. */
    static final ObjectType<ConnectConfig> CONNECT = ObjectType.of(
            "connect entry",
            "Who may reach what through some listeners. Decided in this order: allowedPorts, deny, allow, and the"
                    + " address that is dialed by denyPrivate.",
            o -> {
                var name = o.optional(
                        "name", Types.NAME, ConnectConfig::name, "Unique. For logs and metrics. Default: connect-N.");
                var parents = o.required(
                        "parentRefs",
                        new ListType<>(RouteSchema.PARENT_REF, 1),
                        ConnectConfig::parentRefs,
                        "The listeners it applies to, HTTP or HTTPS. A listener has one entry.");
                var access = AccessKeys.declare(o, entry -> entry.rules().access());
                var denyPrivate = o.defaulted(
                        "denyPrivate",
                        Types.BOOLEAN,
                        true,
                        entry -> entry.rules().addresses().denyPrivate(),
                        "Refuse addresses that are not public, whatever name leads there: loopback, link-local, private"
                                + " networks, cloud metadata and the like.");
                var trusted = o.defaulted(
                        "trustedDestinations",
                        TRUSTED,
                        List.of(),
                        entry -> entry.rules().addresses().trustedDestinations(),
                        "Hosts and address blocks that denyPrivate does not refuse. They still need to be allowed. A"
                                + " listener of this gateway, admin included, is refused whatever else is written,"
                                + " unless it is here with its port, as 127.0.0.1:9901.");
                var audit = o.defaulted(
                        "audit",
                        Types.BOOLEAN,
                        false,
                        entry -> entry.rules().audit(),
                        "Only log what would be refused, and let it through. What denyPrivate refuses stays refused.");
                var auth = o.optional(
                        "auth", ConnectAuthSchema.AUTH, ConnectConfig::auth, "How clients tell who they are.");
                var policies = o.defaulted(
                        "policies",
                        new ListType<>(POLICY, 0),
                        List.of(),
                        entry -> entry.rules().policies(),
                        "What some identities may reach; the first that names the client.");
                var limits = o.section(
                        "limits", LIMITS, entry -> entry.rules().limits(), "How many tunnels may be open at once.");
                var proxies = o.defaulted(
                        "parents",
                        new ListType<Parent>(ParentSchema.PARENT, 0),
                        List.of(),
                        ConnectConfig::parents,
                        "Other proxies to go through, by host; the first that matches. Directly if none does.");
                var timeouts = o.section("timeouts", TIMEOUTS, ConnectConfig::timeouts, "Time limits.");
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
    static List<ConnectConfig> named(List<ConnectConfig> entries, Values v) {
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
