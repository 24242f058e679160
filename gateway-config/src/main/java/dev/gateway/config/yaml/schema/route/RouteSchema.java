package dev.gateway.config.yaml.schema.route;

import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.route.MatchConfig;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.config.route.RouteConfig.Hostname;
import dev.gateway.config.route.RouteConfig.ParentRef;
import dev.gateway.config.route.RuleConfig;
import dev.gateway.config.route.RuleConfig.BackendRef;
import dev.gateway.config.route.RuleConfig.Timeouts;
import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.schema.filter.FilterHint;
import dev.gateway.config.yaml.schema.filter.FilterSchema;
import dev.gateway.config.yaml.schema.filter.FilterTypes;
import dev.gateway.config.yaml.schema.observe.AccessLogSchema;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a route is, key by key. */
public final class RouteSchema {
    public static final ObjectType<ParentRef> PARENT_REF =
            ObjectType.of("parent reference", "A reference to a listener.", o -> {
                var name = o.required("name", Types.NAME, ParentRef::name, "Name of the listener.");
                o.foreign("port sectionName", "a listener has one port: remove it"); // Gateway API
                o.foreign("namespace group kind", "remove it"); // Gateway API
                return v -> new ParentRef(v.position(), v.get(name));
            });

    private static final ScalarType<Hostname> HOSTNAME = new ScalarType<>(
                    ScalarType.Form.TEXT,
                    Map.of("type", "string", "pattern", "^(" + Types.HOSTNAME_PATTERN + ")$"),
                    new Hostname(new Position("", 1, 1), "placeholder"),
                    (text, site) -> {
                        if (text.equals("_")) { // nginx
                            site.scope()
                                    .problems
                                    .warning(
                                            site.position(),
                                            site.label()
                                                    + ": '_' is a name like others here: remove hostnames for all hosts");
                        }
                        return new Hostname(site.position(), Types.HOSTNAME.parse(text, site));
                    },
                    Hostname::value)
            .named(
                    "route host name",
                    "A host name, or '*.' and a domain for all names below it, whatever their number of labels.");

    private static final ScalarType<Integer> WEIGHT = Types.integer(0, 1_000_000)
            .explained(text -> text.matches("[0-9]{1,3}%") ? ": write " + text.replace("%", "") : "");

    private static final ObjectType<BackendRef> BACKEND_REF =
            ObjectType.of("backend reference", "An upstream with its share of requests.", o -> {
                var name = o.required("name", Types.NAME, BackendRef::name, "Name of the upstream.");
                var weight = o.defaulted(
                        "weight",
                        WEIGHT,
                        1,
                        BackendRef::weight,
                        "Share of requests relative to the other references; 0 means none.");
                o.foreign("port host url", "write endpoints into the upstream that name refers to"); // Gateway API
                o.foreign("namespace group kind", "remove it"); // Gateway API
                return v ->
                        new BackendRef(v.position(), v.get(name), v.isReadable("weight", WEIGHT) ? v.get(weight) : 1);
            });

    private static final ObjectType<Timeouts> TIMEOUTS =
            ObjectType.of("route timeouts section", "Time limits of exchanges and tunnels; 0s means no limit.", o -> {
                var request = o.defaulted(
                        "request",
                        Types.DURATION,
                        Duration.ZERO,
                        timeouts -> ifRequests(timeouts, timeouts.request()),
                        "Time from the header section of a request to the end of its response, all attempts "
                                + "together.");
                var backend = o.defaulted(
                        "backendRequest",
                        Types.DURATION,
                        Duration.ZERO,
                        timeouts -> ifRequests(timeouts, timeouts.backendRequest()),
                        "Time for each attempt.");
                var idle = o.defaulted(
                        "streamIdle",
                        Types.DURATION,
                        Duration.ofMinutes(5),
                        timeouts -> ifRequests(timeouts, timeouts.streamIdle()),
                        "How long an exchange may transfer no byte in either direction.");
                var tunnel = TunnelTimeoutKeys.declare(
                        o, TunnelTimeoutKeys.RELAY, Timeouts::tunnel, "On TLS and TCP listeners. ");
                o.single("request");
                o.foreign("read proxyRead proxyReadTimeout proxySend proxySendTimeout send", "streamIdle"); // nginx
                o.foreign("connect proxyConnect proxyConnectTimeout", "write timeouts: {connect: …} into the upstream");
                o.foreign("response responseHeaders server", "write timeouts: {responseHeaders: …} into the upstream");
                o.foreign("perTry attempt", "backendRequest");
                o.foreign("tlsHandshake", "write timeouts: {tlsHandshake: …} into the upstream");
                return v -> {
                    Duration whole = v.get(request);
                    if (!whole.isZero() && v.get(backend).compareTo(whole) > 0) {
                        v.error(
                                v.at("backendRequest"),
                                "backendRequest is longer than request, which ends the attempt first");
                    }
                    return new Timeouts(v.position(), whole, v.get(backend), v.get(idle), tunnel.of(v));
                };
            });

    private RouteSchema() {}

    /** Returns what a route is whose filters have these types. */
    public static ObjectType<RouteConfig> route(FilterTypes types) {
        return ObjectType.of("route", "Rules for some host names on some listeners.", o -> {
            var name = o.optional(
                    "name",
                    Types.NAME,
                    RouteConfig::name,
                    "Unique name of the route, for logs and metrics. The default is route-N.");
            var parents = o.defaulted(
                    "parentRefs",
                    new ListType<>(PARENT_REF, 0),
                    List.of(),
                    RouteConfig::parentRefs,
                    "Listeners that the route applies to. An empty list means all HTTP and HTTPS " + "listeners.");
            var hostnames = o.defaulted(
                    "hostnames",
                    new ListType<>(HOSTNAME, 0),
                    List.of(),
                    RouteConfig::hostnames,
                    "Host names that the route applies to. An empty list means all. On TLS listeners "
                            + "these are server names (SNI).");
            var rules = o.required(
                    "rules",
                    new ListType<>(rule(types), 1),
                    RouteConfig::rules,
                    "The rules. The most specific match of all routes wins.");
            o.foreign("listener listeners entryPoints gateway", "parentRefs"); // Traefik
            o.foreign("priority", "precedence follows from the matches, not from a number: remove it"); // Traefik
            return v -> {
                String given = v.find(name);
                return new RouteConfig(
                        v.position(), given == null ? "" : given, v.get(parents), v.get(hostnames), v.get(rules));
            };
        });
    }

    private static ObjectType<RuleConfig> rule(FilterTypes types) {
        return ObjectType.of("rule", "What happens to requests that match.", o -> {
            var name = o.optional(
                    "name",
                    Types.NAME,
                    RuleConfig::name,
                    "Name of the rule, unique in its route. Logs and metrics call the rule ROUTE/NAME. "
                            + "The default is its position, as ROUTE/2. The only rule of a route has the name of "
                            + "the route.");
            var matches = o.optional(
                    "matches",
                    new ListType<>(MatchSchema.MATCH, 1),
                    rule -> ifRequests(rule.timeouts(), rule.matches()),
                    "Alternatives, one of which must match. Without this key every request matches.");
            var filters = o.defaulted(
                    "filters",
                    new ListType<FilterConfig>(FilterSchema.filter(types), 0),
                    List.of(),
                    rule -> ifRequests(rule.timeouts(), rule.filters()),
                    "Changes and answers to requests. Requests pass filters in the order of their types, whatever"
                            + " the order in the file. The order is " + String.join(", ", types.names())
                            + ". Responses pass them in reverse. Filters of one type keep the order of the file.");
            var refs = o.defaulted(
                    "backendRefs",
                    new ListType<>(BACKEND_REF, 0),
                    List.of(),
                    rule -> rule.forwarding().backendRefs(),
                    "Upstreams to select from by weight.");
            var timeouts =
                    o.section("timeouts", TIMEOUTS, RuleConfig::timeouts, "Time limits of exchanges and tunnels.");
            var retry = o.section(
                    "retry",
                    RetrySchema.RETRY,
                    rule -> ifRequests(rule.timeouts(), rule.forwarding().retry()),
                    "When the gateway sends a request again.");
            var hedge = o.optional(
                    "hedge",
                    HedgeSchema.HEDGE,
                    rule -> ifRequests(rule.timeouts(), rule.forwarding().hedge()),
                    "When the gateway sends a request that takes long to a second endpoint, too. Without this key, "
                            + "never.");
            var preserveHost = o.defaulted(
                    "preserveHost",
                    Types.BOOLEAN,
                    true,
                    rule -> ifRequests(rule.timeouts(), rule.forwarding().preserveHost()),
                    "Whether the upstream gets the client's Host header. If false, it gets the host and "
                            + "port of its endpoint.");
            var mergeSlashes = o.defaulted(
                    "mergeSlashes",
                    Types.BOOLEAN,
                    true,
                    rule -> ifRequests(rule.timeouts(), rule.forwarding().mergeSlashes()),
                    "Whether the gateway forwards repeated slashes of a path as one. Rules and filters always see one.");
            var normalizePath = o.defaulted(
                    "normalizePath",
                    Types.BOOLEAN,
                    true,
                    rule -> ifRequests(rule.timeouts(), rule.forwarding().normalizePath()),
                    "Whether the gateway forwards paths in normal form. If false, it forwards each path unchanged, also "
                            + "with its repeated slashes. Rules and filters always see the normal form.");
            var upgrades = o.defaulted(
                    "upgrades",
                    new ListType<>(UpgradeSchema.TOKEN, 0),
                    List.of(UpgradeSchema.WEBSOCKET),
                    rule -> ifRequests(rule.timeouts(), rule.upgrades().tokens()),
                    "Protocols that requests may upgrade to. An empty list allows none.");
            var webSocket = o.section(
                    "webSocket",
                    UpgradeSchema.WEB_SOCKET,
                    rule -> rule.upgrades().tokens().isEmpty()
                            ? null
                            : ifRequests(rule.timeouts(), rule.upgrades().webSocket()),
                    "Limits of WebSockets.");
            var accessLog = o.optional(
                    "accessLog",
                    AccessLogSchema.CHOICE,
                    RuleConfig::accessLog,
                    "Which exchanges of this rule the access log has.");
            o.foreign("prefix pathPrefix", "write matches: [{path: {value: …}}]");
            o.foreign("observability disableAccessLog", "write accessLog: {exchanges: none}"); // Traefik
            FilterTypes.hint(FilterHint.Place.RULE, o);
            o.foreign("cache proxyCache", "the gateway has no cache: remove it"); // nginx
            o.foreign("buffering proxyBuffering", "the gateway streams bodies: remove it"); // nginx
            o.foreign("proxyReadTimeout proxySendTimeout", "write timeouts: {streamIdle: …}"); // nginx
            o.foreign("plugins", "filters"); // Kong
            o.foreign("retryPolicy", "retry"); // Envoy
            o.foreign("priority", "precedence follows from the matches, not from a number: remove it"); // Traefik
            return v -> {
                if (v.get(upgrades).isEmpty() && v.has("webSocket")) {
                    v.warning(v.atKey("webSocket"), "webSocket has no effect: upgrades allows nothing");
                }
                List<MatchConfig> written = v.find(matches);
                return new RuleConfig(
                        v.position(),
                        v.find(name),
                        written == null || written.isEmpty() ? List.of(v.everything(MatchSchema.MATCH)) : written,
                        v.get(filters),
                        new RuleConfig.Forwarding(
                                v.get(refs),
                                v.get(retry),
                                v.find(hedge),
                                v.get(preserveHost),
                                v.get(mergeSlashes),
                                v.get(normalizePath)),
                        v.get(timeouts),
                        new RuleConfig.Upgrades(v.get(upgrades), v.get(webSocket)),
                        v.find(accessLog));
            };
        });
    }

    private static <T> @Nullable T ifRequests(Timeouts timeouts, @Nullable T value) {
        return timeouts.tunnel() == null ? value : null;
    }
}
