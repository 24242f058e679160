package dev.gateway.status.explain;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.filter.FilterConfig;
import dev.gateway.config.listener.ErrorPagesConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.observe.AccessLogConfig;
import dev.gateway.config.route.HedgeConfig;
import dev.gateway.config.route.MatchConfig;
import dev.gateway.config.route.MatchConfig.ValueMatch;
import dev.gateway.config.route.RouteConfig;
import dev.gateway.config.route.RuleConfig;
import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.value.Position;
import dev.gateway.config.yaml.schema.filter.FilterTypes;
import dev.gateway.exchange.route.Miss;
import dev.gateway.exchange.route.RouteTrials;
import dev.gateway.exchange.route.RouteTrials.Trial;
import dev.gateway.exchange.route.assembly.RouteAssembly;
import dev.gateway.exchange.settings.RequestIdSettings;
import dev.gateway.exchange.settings.ServerHeader;
import dev.gateway.format.Durations;
import dev.gateway.format.ShownText;
import dev.gateway.format.Sizes;
import dev.gateway.message.FieldName;
import dev.gateway.message.Method;
import dev.gateway.message.RequestHead;
import dev.gateway.message.path.PathForm;
import dev.gateway.message.path.PathNormalizer;
import dev.gateway.message.path.PathReadings;
import dev.gateway.message.path.PathReadings.Reading;
import dev.gateway.observe.LogPolicy;
import dev.gateway.observe.accesslog.LogAssembly;
import dev.gateway.status.explain.Explanation.NearMiss;
import dev.gateway.status.explain.Explanation.OnListener;
import dev.gateway.status.explain.Explanation.Reason;
import dev.gateway.status.explain.Explanation.Taken;
import dev.gateway.status.explain.Explanation.Target;
import dev.gateway.status.explain.Explanation.Verdict;
import dev.gateway.stream.SourceAddress;
import io.netty.util.AsciiString;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Route explanation: tells which rule takes a request on a listener, and why no other does. Goes by the configuration
 * alone, and comes to what the router compiled of it comes to. Used by one thread at a time.
 */
public final class RouteExplainer {
    private static final int MAX_NEAR_MISSES = 5;

    private final GatewayConfig config;
    private final ListenerConfig listener;
    private final UpstreamExplainer upstreams;
    private final RouteTrials<Rule> trials = new RouteTrials<>();
    private final boolean hasGuards;

    private record Rule(RouteConfig route, int number) {
        RuleConfig config() {
            return route.rules().get(number);
        }

        String name() {
            return route.ruleName(number);
        }
    }

    /**
     * Makes one.
     *
     * @param upstreams for all listeners
     */
    RouteExplainer(GatewayConfig config, ListenerConfig listener, UpstreamExplainer upstreams) {
        this.config = config;
        this.listener = listener;
        this.upstreams = upstreams;
        boolean guards = false;
        for (RouteConfig route : config.routes()) {
            if (route.appliesTo(listener)) {
                List<String> hostnames = route.hostnames().stream()
                        .map(RouteConfig.Hostname::value)
                        .toList();
                for (int r = 0; r < route.rules().size(); r++) {
                    Rule rule = new Rule(route, r);
                    trials.add(hostnames, rule.config().matches(), rule);
                    guards |= rule.config().guards();
                }
            }
        }
        this.hasGuards = guards;
    }

    /** Explains what becomes of a request. */
    OnListener explain(ExplainRequest question) {
        RequestHead head = question.head();
        if (!listener.isHttp()) {
            // A connection that is passed on is a tunnel to its name, if it has one.
            return explain(
                    new RequestHead(
                            Method.CONNECT,
                            head.scheme(),
                            head.authority(),
                            AsciiString.EMPTY_STRING,
                            head.fields(),
                            0),
                    AsciiString.EMPTY_STRING,
                    question.address());
        }
        if (head.method().equals(Method.TRACE)) {
            return answered(405, "TRACE is not offered", List.of());
        }
        AsciiString path = PathNormalizer.normalize(head.path());
        if (path == null) {
            return answered(400, "the path must not be forwarded, whatever the routes", List.of());
        }
        AsciiString written = head.path();
        head.setPath(path);
        return explain(head, written, question.address());
    }

    private OnListener explain(RequestHead head, AsciiString asked, @Nullable SourceAddress client) {
        List<Trial<Rule>> all = trials.of(head);
        Trial<Rule> found = all.isEmpty() || !all.get(0).isAccepted() ? null : all.get(0);
        Rule written = found == null ? null : found.rule();
        if (isUnclear(head, written)) {
            return answered(
                    400, "upstreams may read the path in too many ways to tell which route guards it", List.of());
        }
        Reading guarded = guardedReading(head, written);
        if (guarded != null) {
            all = trials.of(head, guarded);
            found = all.get(0);
        }
        List<NearMiss> misses = all.stream()
                .filter(trial -> !trial.isAccepted())
                .limit(MAX_NEAR_MISSES)
                .map(trial -> miss(trial, head))
                .toList();
        if (found == null) {
            return head.path().contentEquals("*")
                    ? answered(200, "OPTIONS * is answered by the gateway itself", List.of())
                    : answered(404, "no route matches", misses);
        }
        Rule rule = found.rule();
        RuleConfig of = rule.config();
        if (guarded != null && !refusesAll(of)) {
            return answered(
                    400,
                    "upstreams may read the path as " + guarded.path() + ", which route " + rule.name() + " guards",
                    misses);
        }
        String unforwardable = unforwardable(head, asked, rule);
        if (unforwardable != null) {
            return answered(400, unforwardable, misses);
        }
        List<Reason> reasons = new ArrayList<>(fits(found, head));
        if (guarded != null) {
            reasons.add(new Reason(
                    "upstreams may read the path as " + guarded.path() + ", which this rule refuses", of.position()));
        }
        all.stream()
                .skip(1)
                .filter(Trial::isAccepted)
                .filter(other -> !other.rule().equals(rule))
                .limit(MAX_NEAR_MISSES)
                .forEach(other -> reasons.add(new Reason(
                        "before " + other.rule().name() + ", which matches too but has lower precedence", at(other))));
        of.filters().stream()
                .filter(filter -> filter.guards() && filter.answer() == 0)
                .forEach(filter -> reasons.add(new Reason(filter.type() + " may refuse it", filter.position())));
        FilterConfig answer = FilterTypes.inOrder(of.filters()).stream()
                .filter(filter -> filter.answer() != 0)
                .findFirst()
                .orElse(null);
        boolean hasTarget = of.forwarding().backendRefs().stream().anyMatch(ref -> ref.weight() > 0);
        String ofSession = answer == null && hasTarget && !head.isConnect()
                ? upstreams.ofSession(of.forwarding().backendRefs(), head)
                : null;
        if (ofSession != null) {
            reasons.add(new Reason(
                    "the session of its cookie leads to upstream " + ofSession + ", whatever the weights",
                    of.position()));
        }
        reasons.addAll(upgrades(of, head));
        String by = "route " + rule.name();
        Verdict verdict = answer == null && hasTarget ? Verdict.ROUTE : Verdict.ANSWERED;
        reasons.addAll(errorPages());
        reasons.addAll(ofListener(verdict == Verdict.ROUTE));
        int status = answer != null ? answer.answer() : hasTarget ? 0 : 500;
        String summary = answer != null
                ? by + " answers with " + status
                : hasTarget ? by : by + " answers with 500, as all of its weights are 0";
        return new OnListener(
                listener.name(),
                listener.position(),
                verdict,
                status,
                summary,
                reasons,
                taken(rule, head, client),
                misses);
    }

    /** Returns why the form of the path that the rule forwards is refused, as the router does; null if it is not. */
    private @Nullable String unforwardable(RequestHead head, AsciiString written, Rule rule) {
        PathForm form = RouteAssembly.path(rule.config());
        AsciiString normal = head.path();
        if (form == PathForm.NORMAL || written.equals(normal)) {
            return null;
        }
        List<AsciiString> readings = form.of(written, normal);
        if (readings.isEmpty()) {
            return "an upstream may resolve the path otherwise than rules and filters did";
        }
        boolean same = true;
        for (AsciiString reading : readings) {
            head.setPath(reading);
            List<Trial<Rule>> all = trials.of(head);
            same &= !all.isEmpty()
                    && all.get(0).isAccepted()
                    && all.get(0).rule().equals(rule)
                    && !isUnclear(head, rule)
                    && guardedReading(head, rule) == null;
        }
        head.setPath(normal);
        return same
                ? null
                : "an upstream may read the unchanged path as one that does not lead to route " + rule.name();
    }

    /** Whether the path has too many readings to look them up, as the router finds. */
    private boolean isUnclear(RequestHead head, @Nullable Rule written) {
        return hasGuards && (written == null || !refusesAll(written.config())) && trials.hasTooManyReadings(head);
    }

    private static boolean refusesAll(RuleConfig rule) {
        return rule.filters().stream().anyMatch(FilterConfig::refusesAll);
    }

    /** Returns the first way to read the path that leads to another rule which guards it, as the router does. */
    private @Nullable Reading guardedReading(RequestHead head, @Nullable Rule written) {
        if (written != null && refusesAll(written.config())) {
            return null;
        }
        AsciiString path = head.path().subSequence(0, head.queryStart());
        List<Reading> readings = new ArrayList<>(List.of(new Reading(path, null)));
        readings.addAll(
                PathReadings.isAmbiguous(path, path.length())
                        ? PathReadings.all(path, path.length(), true)
                        : PathReadings.plain(path));
        for (Reading reading : readings) {
            Trial<Rule> read = first(head, reading);
            if (isOtherGuard(read, written)) {
                return reading;
            }
            Reading shorter = written == null || (read != null && read.isOwn()) ? null : reading.withoutSlash();
            Trial<Rule> other = shorter == null ? null : first(head, shorter);
            if (other != null && other.rule().config().guardsAccess() && isOtherGuard(other, written)) {
                return shorter;
            }
        }
        return null;
    }

    private @Nullable Trial<Rule> first(RequestHead head, Reading reading) {
        List<Trial<Rule>> all = trials.of(head, reading);
        return all.isEmpty() || !all.get(0).isAccepted() ? null : all.get(0);
    }

    private static boolean isOtherGuard(@Nullable Trial<Rule> read, @Nullable Rule written) {
        return read != null
                && !read.rule().equals(written)
                && read.rule().config().guards();
    }

    private static List<Reason> upgrades(RuleConfig of, RequestHead head) {
        List<Reason> reasons = new ArrayList<>();
        List<String> origins = of.upgrades().webSocket().allowedOrigins();
        for (AsciiString upgrade : head.fields().elements(FieldName.UPGRADE)) {
            boolean offered = of.upgrades().tokens().contains(upgrade.toString().toLowerCase(Locale.ROOT));
            reasons.add(new Reason(
                    "upgrade to " + upgrade
                            + (offered ? " is listed in upgrades" : " is not listed in upgrades, so it is ignored"),
                    of.position()));
            if (offered && !origins.isEmpty()) {
                reasons.add(new Reason(
                        "pages of other origins than " + ShownText.shorten(String.join(", ", origins))
                                + " get 403 for it",
                        of.upgrades().webSocket().position()));
            }
        }
        return reasons;
    }

    private OnListener answered(int status, String why, List<NearMiss> misses) {
        Verdict verdict = status < 400 ? Verdict.ANSWERED : Verdict.REFUSED;
        List<Reason> reasons = new ArrayList<>(status < 400 ? List.of() : errorPages());
        reasons.addAll(ofListener(false));
        return new OnListener(
                listener.name(), listener.position(), verdict, status, status + ": " + why, reasons, null, misses);
    }

    /** Returns what its errors look like, if the listener says so. */
    private List<Reason> errorPages() {
        ErrorPagesConfig pages = listener.http().errorPages();
        return pages == null ? List.of() : List.of(new Reason("the listener has " + pages.summary(), pages.position()));
    }

    /**
     * Returns what else the listener says of requests and their responses, where it differs from the default.
     *
     * @param forwards whether the request goes to an upstream
     */
    private List<Reason> ofListener(boolean forwards) {
        List<Reason> reasons = new ArrayList<>();
        if (!listener.isHttp()) {
            return reasons;
        }
        ListenerConfig.Http http = listener.http();
        ListenerConfig.RequestId id = http.requestId();
        if (!FieldName.of(id.header()).equals(RequestIdSettings.DEFAULT.header())
                || id.format() != RequestIdSettings.DEFAULT.format()) {
            reasons.add(
                    new Reason("the listener has requestId: " + id.header() + ", " + word(id.format()), id.position()));
        }
        ListenerConfig.ServerHeader server = http.serverHeader();
        boolean removed = server.transformation() == ListenerConfig.ServerHeader.Transformation.REMOVE;
        if (server.transformation() != ServerHeader.DEFAULT.transformation()
                || !ServerHeader.DEFAULT.name().contentEquals(server.name())) {
            reasons.add(new Reason(
                    "the listener has serverHeader: " + word(server.transformation())
                            + (removed ? "" : ", " + server.name()),
                    server.position()));
        }
        if (listener.limits().maxBody() > 0) {
            reasons.add(new Reason(
                    "a body of more than " + Sizes.print(listener.limits().maxBody()) + " gets 413",
                    listener.limits().position()));
        }
        add(
                reasons,
                "headersWithUnderscores",
                http.headersWithUnderscores(),
                ListenerConfig.HeadersWithUnderscores.DROP);
        if (forwards) {
            add(reasons, "via", http.via(), ListenerConfig.Via.AUTO);
            add(reasons, "forwardedHeaders", http.forwardedHeaders(), ListenerConfig.ForwardedHeaders.X_FORWARDED);
        }
        return reasons;
    }

    private <E extends Enum<E>> void add(List<Reason> reasons, String key, E value, E usual) {
        if (value != usual) {
            reasons.add(new Reason("the listener has " + key + ": " + word(value), listener.position()));
        }
    }

    /** Returns the word of the configuration: {@code appendIfAbsent} for {@code APPEND_IF_ABSENT}. */
    private static String word(Enum<?> value) {
        StringBuilder word = new StringBuilder();
        for (String part : value.name().split("_")) {
            word.append(
                    word.isEmpty()
                            ? part.toLowerCase(Locale.ROOT)
                            : part.charAt(0) + part.substring(1).toLowerCase(Locale.ROOT));
        }
        return word.toString();
    }

    // ---- why

    private static Position at(Trial<Rule> trial) {
        return match(trial).position();
    }

    private static MatchConfig match(Trial<Rule> trial) {
        return trial.rule().config().matches().get(trial.match());
    }

    private static List<Reason> fits(Trial<Rule> trial, RequestHead head) {
        RouteConfig route = trial.rule().route();
        MatchConfig match = match(trial);
        List<Reason> fits = new ArrayList<>();
        if (!trial.misses().contains(new Miss(Miss.Part.HOST, 0))) {
            fits.add(
                    trial.hostname() < 0
                            ? new Reason("any host", route.position())
                            : new Reason(
                                    "host " + head.authority() + " is "
                                            + route.hostnames()
                                                    .get(trial.hostname())
                                                    .value(),
                                    route.hostnames().get(trial.hostname()).position()));
        }
        if (!trial.misses().contains(new Miss(Miss.Part.PATH, 0))) {
            fits.add(new Reason(
                    "path " + path(head) + " matches " + describe(match.path()),
                    match.path().position()));
        }
        if (match.method() != null && !trial.misses().contains(new Miss(Miss.Part.METHOD, 0))) {
            fits.add(new Reason("method is " + match.method(), match.position()));
        }
        addFits(fits, "header", Miss.Part.HEADER, match.headers(), trial);
        addFits(fits, "query parameter", Miss.Part.QUERY, match.queryParams(), trial);
        return fits;
    }

    private static void addFits(
            List<Reason> fits, String kind, Miss.Part part, List<ValueMatch> wanted, Trial<Rule> trial) {
        for (int i = 0; i < wanted.size(); i++) {
            if (!trial.misses().contains(new Miss(part, i))) {
                fits.add(new Reason(
                        kind + " " + describe(wanted.get(i)), wanted.get(i).position()));
            }
        }
    }

    private static NearMiss miss(Trial<Rule> trial, RequestHead head) {
        List<Reason> misses =
                trial.misses().stream().map(miss -> reason(miss, trial, head)).toList();
        return new NearMiss(trial.rule().name(), at(trial), fits(trial, head), misses);
    }

    private static Reason reason(Miss miss, Trial<Rule> trial, RequestHead head) {
        RouteConfig route = trial.rule().route();
        MatchConfig match = match(trial);
        return switch (miss.part()) {
            case HOST ->
                new Reason(
                        "host " + (head.authority().isEmpty() ? "is missing, and" : head.authority() + " is not")
                                + (head.authority().isEmpty() ? " wanted: " : " among ")
                                + String.join(
                                        ", ",
                                        route.hostnames().stream()
                                                .map(RouteConfig.Hostname::value)
                                                .toList()),
                        route.hostnames().get(0).position());
            case PATH ->
                new Reason(
                        "path " + path(head) + " does not match " + describe(match.path()),
                        match.path().position());
            case METHOD -> new Reason("method is " + head.method() + ", not " + match.method(), match.position());
            case HEADER -> not("header", match.headers().get(miss.index()));
            case QUERY -> not("query parameter", match.queryParams().get(miss.index()));
        };
    }

    private static Reason not(String kind, ValueMatch wanted) {
        return new Reason("no " + kind + " " + describe(wanted), wanted.position());
    }

    private static String path(RequestHead head) {
        return head.path().toString(0, head.queryStart());
    }

    /** Returns a condition on the path in words. */
    public static String describe(MatchConfig.PathMatch path) {
        return switch (path.type()) {
                    case EXACT -> "Exact ";
                    case PATH_PREFIX -> "PathPrefix ";
                    case REGULAR_EXPRESSION -> "RegularExpression ";
                }
                + (path.secret() ? "***" : path.value());
    }

    /** Returns a condition on a header or a query parameter in words. */
    public static String describe(ValueMatch match) {
        String how = match.type() == MatchConfig.ValueType.EXACT ? " = " : " matching ";
        return match.name() + how + (match.secret() ? "***" : match.value());
    }

    // ---- what it comes to

    private Taken taken(Rule rule, RequestHead head, @Nullable SourceAddress client) {
        RuleConfig of = rule.config();
        List<Reason> filters = FilterTypes.inOrder(of.filters()).stream()
                .map(filter -> new Reason(filter.summary(), filter.position()))
                .toList();
        int total = of.forwarding().backendRefs().stream()
                .mapToInt(RuleConfig.BackendRef::weight)
                .sum();
        List<Target> targets = new ArrayList<>();
        for (RuleConfig.BackendRef ref : of.forwarding().backendRefs()) {
            for (UpstreamConfig upstream : config.upstreams()) {
                if (upstream.name().equals(ref.name())) {
                    targets.add(upstreams.explain(
                            ref,
                            upstream,
                            total == 0 ? 0 : (double) ref.weight() / total,
                            timeouts(upstream),
                            head,
                            client,
                            !filters.isEmpty()));
                }
            }
        }
        return new Taken(rule.name(), of.position(), filters, targets, timeouts(of), more(of));
    }

    private static Map<String, Object> timeouts(UpstreamConfig upstream) {
        UpstreamConfig.Timeouts limits = upstream.timeouts();
        Map<String, Object> timeouts = new LinkedHashMap<>();
        timeouts.put("connect", duration(limits.connect()));
        if (upstream.protocols().tls() != null) {
            timeouts.put("tlsHandshake", duration(limits.tlsHandshake()));
        }
        timeouts.put("poolAcquire", duration(limits.poolAcquire()));
        timeouts.put("responseHeaders", duration(limits.responseHeaders()));
        return timeouts;
    }

    /** Returns the timeouts of a rule by their keys. */
    public static Map<String, Object> timeouts(RuleConfig rule) {
        TunnelTimeouts tunnel = rule.timeouts().tunnel();
        if (tunnel != null) {
            return timeouts(tunnel);
        }
        Map<String, Object> timeouts = new LinkedHashMap<>();
        timeouts.put("request", duration(rule.timeouts().request()));
        timeouts.put("backendRequest", duration(rule.timeouts().backendRequest()));
        timeouts.put("streamIdle", duration(rule.timeouts().streamIdle()));
        return timeouts;
    }

    /** Returns the timeouts of tunnels by their keys. */
    public static Map<String, Object> timeouts(TunnelTimeouts tunnel) {
        Map<String, Object> timeouts = new LinkedHashMap<>();
        timeouts.put("idle", duration(tunnel.idle()));
        timeouts.put("halfClosed", duration(tunnel.halfClosed()));
        timeouts.put("max", duration(tunnel.max()));
        return timeouts;
    }

    private Map<String, Object> more(RuleConfig rule) {
        Map<String, Object> more = new LinkedHashMap<>();
        if (rule.timeouts().tunnel() == null) {
            more.put("retries", rule.forwarding().retry().attempts());
            more.put("retry", RetryText.of(rule.forwarding().retry()));
            HedgeConfig hedge = rule.forwarding().hedge();
            if (hedge != null) {
                more.put("hedge", RetryText.of(hedge));
            }
            more.put("preserveHost", rule.forwarding().preserveHost());
            if (RouteAssembly.path(rule) != PathForm.NORMAL) {
                more.put("mergeSlashes", rule.forwarding().mergeSlashes());
                more.put("normalizePath", rule.forwarding().normalizePath());
            }
            more.put("upgrades", rule.upgrades().tokens());
        }
        String logged = logged(rule);
        if (logged != null) {
            more.put("accessLog", logged);
        }
        return more;
    }

    /** Returns which exchanges of a rule the access log has, null for all. */
    private @Nullable String logged(RuleConfig rule) {
        AccessLogConfig log = config.accessLog();
        LogPolicy own = LogAssembly.policy(log, rule.accessLog());
        LogPolicy policy = own != null ? own : LogAssembly.policy(log);
        if (log.lines().format() == AccessLogConfig.Format.OFF) {
            return "none, as there is no access log";
        }
        return switch (policy.exchanges()) {
            case NONE -> "none";
            case FAILED -> "failed exchanges";
            case ALL ->
                policy.sample() >= 1
                        ? null
                        : "failed exchanges, and "
                                + BigDecimal.valueOf(policy.sample())
                                        .movePointRight(2)
                                        .stripTrailingZeros()
                                        .toPlainString()
                                + " % of the others";
        };
    }

    static String duration(@Nullable Duration limit) {
        return limit == null || limit.isZero() ? "none" : Durations.print(limit);
    }
}
