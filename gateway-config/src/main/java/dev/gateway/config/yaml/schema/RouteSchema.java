package dev.gateway.config.yaml.schema;

import dev.gateway.config.FilterConfig;
import dev.gateway.config.MatchConfig;
import dev.gateway.config.Position;
import dev.gateway.config.RouteConfig;
import dev.gateway.config.RouteConfig.Hostname;
import dev.gateway.config.RouteConfig.ParentRef;
import dev.gateway.config.RuleConfig;
import dev.gateway.config.RuleConfig.BackendRef;
import dev.gateway.config.RuleConfig.Retry;
import dev.gateway.config.RuleConfig.Timeouts;
import dev.gateway.config.yaml.type.ListType;
import dev.gateway.config.yaml.type.ObjectType;
import dev.gateway.config.yaml.type.ScalarType;
import dev.gateway.config.yaml.type.Types;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a route is, key by key. */
final class RouteSchema {
    static final ObjectType<ParentRef> PARENT_REF = ObjectType.of("parent reference", "A listener.", o -> {
        var name = o.required("name", Types.NAME, ParentRef::name, "The listener's name.");
        return v -> new ParentRef(v.position(), v.get(name));
    });

    private static final ScalarType<Hostname> HOSTNAME = new ScalarType<>(
            ScalarType.Form.TEXT,
            Map.of("type", "string", "pattern", "^(" + Types.HOSTNAME_PATTERN + ")$"),
            new Hostname(new Position("", 1, 1), "placeholder"),
            (text, site) -> new Hostname(site.position(), Types.HOSTNAME.parse(text, site)),
            Hostname::value);

    private static final ObjectType<BackendRef> BACKEND_REF =
            ObjectType.of("backend reference", "An upstream, with its share.", o -> {
                var name = o.required("name", Types.NAME, BackendRef::name, "The upstream's name.");
                var weight = o.defaulted(
                        "weight",
                        Types.integer(0, 1_000_000),
                        1,
                        BackendRef::weight,
                        "Its share of requests relative to its siblings; 0 is none.");
                return v -> new BackendRef(v.position(), v.get(name), v.get(weight));
            });

    private static final ObjectType<Timeouts> TIMEOUTS =
            ObjectType.of("route timeouts section", "Time limits of an exchange; 0s is none.", o -> {
                var request = o.defaulted(
                        "request",
                        Types.DURATION,
                        Duration.ZERO,
                        timeouts -> ifRequests(timeouts, timeouts.request()),
                        "From the request's header to the response's end, all attempts together.");
                var backend = o.defaulted(
                        "backendRequest",
                        Types.DURATION,
                        Duration.ZERO,
                        timeouts -> ifRequests(timeouts, timeouts.backendRequest()),
                        "Each attempt.");
                var idle = o.defaulted(
                        "streamIdle",
                        Types.DURATION,
                        Duration.ofMinutes(5),
                        timeouts -> ifRequests(timeouts, timeouts.streamIdle()),
                        "Without a byte in either direction.");
                var tunnel = TunnelTimeoutKeys.declare(
                        o, TunnelTimeoutKeys.RELAY, Timeouts::tunnel, "On TLS and TCP listeners. ");
                return v -> {
                    Duration whole = v.get(request);
                    if (!whole.isZero() && v.get(backend).compareTo(whole) > 0) {
                        v.error(v.at("backendRequest"), "backendRequest is longer than request, and could never end");
                    }
                    return new Timeouts(v.position(), whole, v.get(backend), v.get(idle), tunnel.of(v));
                };
            });

    private static final ObjectType<Retry> RETRY = ObjectType.of(
            "retry section",
            "When a request is sent again. One that provably reached nobody is sent again once in any case.",
            o -> {
                var attempts = o.defaulted(
                        "attempts", Types.integer(0, 10), 0, Retry::attempts, "How many further attempts may be made.");
                var codes = o.defaulted(
                        "codes",
                        new ListType<>(Types.integer(400, 599), 0),
                        List.<Integer>of(),
                        retry -> retry.codes().stream().sorted().toList(),
                        "Response statuses that count as failed.");
                var backoff = o.defaulted(
                        "backoff",
                        Types.DURATION,
                        Duration.ofMillis(25),
                        Retry::backoff,
                        "The least wait before a further attempt.");
                return v -> {
                    if (v.get(attempts) == 0 && v.has("codes") && !v.has("attempts")) {
                        v.warning(v.atKey("codes"), "codes has no effect without 'attempts'");
                    }
                    return new Retry(v.position(), v.get(attempts), new LinkedHashSet<>(v.get(codes)), v.get(backoff));
                };
            });

    private static final ObjectType<RuleConfig> RULE =
            ObjectType.of("rule", "What happens to requests that match.", o -> {
                var name = o.optional(
                        "name",
                        Types.NAME,
                        RuleConfig::name,
                        "Unique in its route. Logs and metrics call the rule ROUTE/NAME. Default: its position, as ROUTE/2;"
                                + " the only rule of a route has the route's name.");
                var matches = o.optional(
                        "matches",
                        new ListType<>(MatchSchema.MATCH, 1),
                        rule -> ifRequests(rule.timeouts(), rule.matches()),
                        "Alternatives, one of which must match. Every request matches if absent.");
                var filters = o.defaulted(
                        "filters",
                        new ListType<FilterConfig>(FilterSchema.FILTER, 0),
                        List.of(),
                        rule -> ifRequests(rule.timeouts(), rule.filters()),
                        "What is done with requests and responses. Requests pass RequestRedirect, DirectResponse,"
                                + " RequestHeaderModifier and URLRewrite in this order, whatever the order in the file; then"
                                + " responses pass ResponseHeaderModifier. Filters of one type keep the order in the file.");
                var refs = o.defaulted(
                        "backendRefs",
                        new ListType<>(BACKEND_REF, 0),
                        List.of(),
                        rule -> rule.forwarding().backendRefs(),
                        "The upstreams to choose from, by weight.");
                var timeouts = o.section("timeouts", TIMEOUTS, RuleConfig::timeouts, "Time limits.");
                var retry = o.section(
                        "retry",
                        RETRY,
                        rule -> ifRequests(rule.timeouts(), rule.forwarding().retry()),
                        "When a request is sent again.");
                var preserveHost = o.defaulted(
                        "preserveHost",
                        Types.BOOLEAN,
                        true,
                        rule -> ifRequests(rule.timeouts(), rule.forwarding().preserveHost()),
                        "Whether the upstream sees the client's host, or else its own endpoint's host and port.");
                var upgrades = o.defaulted(
                        "upgrades",
                        new ListType<>(UpgradeSchema.TOKEN, 0),
                        List.of(UpgradeSchema.WEBSOCKET),
                        rule -> ifRequests(rule.timeouts(), rule.upgrades().tokens()),
                        "What requests may upgrade to; [] for nothing.");
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
                        "Of which exchanges there are lines in the access log.");
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
                            new RuleConfig.Forwarding(v.get(refs), v.get(retry), v.get(preserveHost)),
                            v.get(timeouts),
                            new RuleConfig.Upgrades(v.get(upgrades), v.get(webSocket)),
                            v.find(accessLog));
                };
            });

    /** A route. */
    static final ObjectType<RouteConfig> ROUTE =
            ObjectType.of("route", "Rules for some hostnames on some listeners.", o -> {
                var name = o.optional(
                        "name", Types.NAME, RouteConfig::name, "Unique. For logs and metrics. Default: route-N.");
                var parents = o.defaulted(
                        "parentRefs",
                        new ListType<>(PARENT_REF, 0),
                        List.of(),
                        RouteConfig::parentRefs,
                        "The listeners it applies to; all HTTP and HTTPS listeners if absent.");
                var hostnames = o.defaulted(
                        "hostnames",
                        new ListType<>(HOSTNAME, 0),
                        List.of(),
                        RouteConfig::hostnames,
                        "Host names, exact or *. before one or more labels; all if absent. Of TLS listeners, the names"
                                + " that clients ask for (SNI).");
                var rules = o.required("rules", new ListType<>(RULE, 1), RouteConfig::rules, "What happens when.");
                return v -> {
                    String given = v.find(name);
                    return new RouteConfig(
                            v.position(), given == null ? "" : given, v.get(parents), v.get(hostnames), v.get(rules));
                };
            });

    private RouteSchema() {}

    private static <T> @Nullable T ifRequests(Timeouts timeouts, T value) {
        return timeouts.tunnel() == null ? value : null;
    }
}
