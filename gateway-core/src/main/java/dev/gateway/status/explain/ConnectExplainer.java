package dev.gateway.status.explain;

import dev.gateway.config.ConnectConfig;
import dev.gateway.config.Destination;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.value.Position;
import dev.gateway.connect.AddressRules;
import dev.gateway.connect.ConnectTally;
import dev.gateway.connect.Decision;
import dev.gateway.connect.OwnListeners;
import dev.gateway.connect.Policies;
import dev.gateway.connect.Target;
import dev.gateway.connect.assembly.ConnectAssembly;
import dev.gateway.filter.auth.AuthFileException;
import dev.gateway.filter.auth.Membership;
import dev.gateway.status.explain.Explanation.NearMiss;
import dev.gateway.status.explain.Explanation.OnListener;
import dev.gateway.status.explain.Explanation.Reason;
import dev.gateway.status.explain.Explanation.Taken;
import dev.gateway.status.explain.Explanation.Verdict;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Identity;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * CONNECT policy explanation: tells what the policy of an entry of the connect section makes of a target. Counts nothing.
 * Reads the file of groups, so not for event loops.
 */
public final class ConnectExplainer {
    private static final Pattern LABEL = Pattern.compile("(?:policies\\[(\\d+)]\\.)?(allow|deny)\\[(\\d+)]");
    private static final int MAX_NEAR = 5;

    private final ListenerConfig listener;
    private final ConnectConfig entry;
    private final OwnListeners own;

    ConnectExplainer(ListenerConfig listener, ConnectConfig entry, OwnListeners own) {
        this.listener = listener;
        this.entry = entry;
        this.own = own;
    }

    /** Explains what becomes of a CONNECT on a listener without an entry. */
    static OnListener none(ListenerConfig listener) {
        return new OnListener(
                listener.name(),
                listener.position(),
                Verdict.REFUSED,
                405,
                "405: no tunnels are offered here: no entry of connect names this listener",
                List.of(),
                null,
                List.of());
    }

    /** Explains what becomes of a request for the script for clients. */
    static OnListener page(ListenerConfig listener, ConnectConfig.Pac page) {
        return new OnListener(
                listener.name(),
                listener.position(),
                Verdict.ANSWERED,
                200,
                "200: the listener's own proxy auto-configuration",
                List.of(new Reason("pac comes before all routes", page.position())),
                null,
                List.of());
    }

    /** Explains what becomes of a CONNECT to {@code host:port}. */
    OnListener explain(ExplainRequest question) {
        String authority = String.valueOf(question.connect());
        Target target = Target.parse(new AsciiString(authority), 0);
        if (target == null) {
            return refused(
                    Cause.CLIENT_PROTOCOL_ERROR, "expected a host and a port, not " + authority, List.of(), List.of());
        }
        List<Reason> reasons = new ArrayList<>();
        Identity identity = identity(question, reasons);
        Policies policies = ConnectAssembly.policies(entry);
        String name = policies.of(identity).settings().name();
        ConnectConfig.@Nullable Policy policy = policy(name);
        if (policy != null) {
            reasons.add(new Reason("policy " + name + " is for " + question.identity(), policy.position()));
        } else if (entry.auth() != null && identity == null) {
            reasons.add(new Reason(
                    "clients must say who they are, else 407: name one",
                    entry.auth().position()));
        }
        Decision decision = policies.of(identity).decide(target);
        ConnectConfig.Access access = policy == null ? entry.rules().access() : policy.access();
        Position at = place(decision.rule(), policy);
        reasons.add(new Reason(
                decision.isAllowed()
                        ? decision.rule() + " has " + target.host()
                        : decision.reason() + " (" + decision.rule() + ")",
                at));
        Cause cause = decision.cause();
        if (cause != null && (!entry.rules().audit() || target.odd())) {
            return refused(cause, target + ": " + decision.reason(), reasons, near(target, decision, access, policy));
        }
        String address = refusedAddress(target, access);
        if (address != null) {
            reasons.add(new Reason(address, entry.position()));
            return refused(Cause.POLICY_ADDRESS, target + ": " + address, reasons, List.of());
        }
        if (target.address() == null && entry.rules().addresses().denyPrivate()) {
            reasons.add(new Reason("denyPrivate is checked when the gateway connects", entry.position()));
        }
        if (cause != null) {
            reasons.add(new Reason("audit: refusals are only logged", entry.position()));
        }
        String once = entry.auth() != null && identity == null ? ", once the client has said who it is" : "";
        return on(
                Verdict.ALLOWED,
                0,
                "connect entry " + entry.name() + " lets it through" + once,
                reasons,
                taken(access),
                List.of());
    }

    private @Nullable Identity identity(ExplainRequest question, List<Reason> reasons) {
        if (question.identity() == null) {
            return null;
        }
        Set<String> groups = new HashSet<>(question.groups());
        ConnectConfig.Auth auth = entry.auth();
        if (auth != null && auth.groupsFile() != null) {
            try {
                groups.addAll(
                        Membership.of(question.identity(), auth.groupsFile()).groups());
            } catch (AuthFileException e) {
                reasons.add(new Reason("groups are not known: " + e.getMessage(), auth.position()));
            }
        }
        return new Identity(question.identity(), groups);
    }

    /** Returns the policy of that name, null if it is the entry itself. */
    private ConnectConfig.@Nullable Policy policy(String name) {
        for (int i = 0; i < entry.rules().policies().size(); i++) {
            if (name.equals(entry.name() + "/policies[" + i + "]")) {
                return entry.rules().policies().get(i);
            }
        }
        return null;
    }

    /** Returns where the rule of a label stands; what is not in a list stands where its policy or entry does. */
    private Position place(String rule, ConnectConfig.@Nullable Policy policy) {
        Matcher label = LABEL.matcher(rule);
        if (!label.matches()) {
            return policy == null ? entry.position() : policy.position();
        }
        ConnectConfig.Access access = label.group(1) == null
                ? entry.rules().access()
                : entry.rules().policies().get(Integer.parseInt(label.group(1))).access();
        List<Destination> list = label.group(2).equals("allow") ? access.allow() : access.deny();
        return list.get(Integer.parseInt(label.group(3))).position();
    }

    private @Nullable String refusedAddress(Target target, ConnectConfig.Access access) {
        AddressRules rules = new AddressRules(ConnectAssembly.addressSettings(entry, access), own, new ConnectTally());
        if (target.address() != null) {
            return rules.refuse(target.host(), target.address(), target.port());
        }
        return ConnectAssembly.hasParent(entry, target.host(), null)
                ? rules.refuseName(target.host(), target.port())
                : null;
    }

    /** Returns what is allowed and much like the target. */
    private List<NearMiss> near(
            Target target, Decision decision, ConnectConfig.Access access, ConnectConfig.@Nullable Policy policy) {
        Position at = policy == null ? entry.position() : policy.position();
        if (decision.cause() == Cause.POLICY_PORT) {
            return List.of(new NearMiss(
                    "allowedPorts",
                    at,
                    List.of(),
                    List.of(new Reason(access.allowedPorts() + " has no " + target.port(), at))));
        }
        String[] labels = target.host().split("\\.", -1);
        String domain = labels.length < 2 ? target.host() : labels[labels.length - 2] + "." + labels[labels.length - 1];
        Stream<Destination> like = target.address() != null
                ? access.allow().stream().filter(Destination.Block.class::isInstance)
                : access.allow().stream()
                        .filter(each ->
                                each.text().equals(domain) || each.text().endsWith("." + domain));
        return like.limit(MAX_NEAR)
                .map(each -> new NearMiss(
                        each.text(),
                        each.position(),
                        List.of(),
                        List.of(new Reason("allow " + each.text() + " is not " + target.host(), each.position()))))
                .toList();
    }

    private Taken taken(ConnectConfig.Access access) {
        Map<String, Object> timeouts = new LinkedHashMap<>();
        timeouts.put("connect", RouteExplainer.duration(entry.timeouts().connect()));
        timeouts.putAll(RouteExplainer.timeouts(entry.timeouts().tunnel()));
        List<Reason> filters = new ArrayList<>();
        if (entry.auth() != null) {
            filters.add(new Reason("ProxyAuthentication", entry.auth().position()));
        }
        filters.add(new Reason("ConnectRules", entry.position()));
        filters.add(new Reason("TunnelLimits", entry.rules().limits().position()));
        filters.add(new Reason("SniCheck " + access.sni(), entry.position()));
        return new Taken(
                entry.name(),
                entry.position(),
                filters,
                List.of(),
                timeouts,
                Map.of("denyPrivate", entry.rules().addresses().denyPrivate()));
    }

    private OnListener refused(Cause cause, String why, List<Reason> reasons, List<NearMiss> near) {
        List<Reason> all = new ArrayList<>(reasons);
        all.add(new Reason("cause " + cause.label(), null));
        return on(Verdict.REFUSED, cause.status(), cause.status() + ": " + why, all, null, near);
    }

    private OnListener on(
            Verdict verdict,
            int status,
            String summary,
            List<Reason> reasons,
            @Nullable Taken taken,
            List<NearMiss> near) {
        return new OnListener(
                listener.name(), listener.position(), verdict, status, summary, List.copyOf(reasons), taken, near);
    }
}
