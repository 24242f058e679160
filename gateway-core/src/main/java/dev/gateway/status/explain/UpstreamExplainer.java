package dev.gateway.status.explain;

import dev.gateway.config.route.RuleConfig;
import dev.gateway.config.upstream.EndpointConfig;
import dev.gateway.config.upstream.SessionPersistenceConfig;
import dev.gateway.config.upstream.UpstreamConfig;
import dev.gateway.config.value.Position;
import dev.gateway.message.RequestHead;
import dev.gateway.status.explain.Explanation.Choice;
import dev.gateway.status.explain.Explanation.Target;
import dev.gateway.stream.SourceAddress;
import dev.gateway.upstream.BalancerContext;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.SessionPersistence;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.assembly.BuiltInBalancers;
import dev.gateway.upstream.discovery.EndpointEntries;
import dev.gateway.upstream.discovery.SourceState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Upstream explanation: tells how the endpoints of an upstream are, and which of them would get a request. It asks the running
 * balancer only where the request alone decides, so that it takes nobody's turn. Used by one thread at a time.
 */
final class UpstreamExplainer {
    private static final int NAMED = 5;
    private static final int MOST = 50; // endpoints of an upstream; the page of upstreams has all

    private final LiveUpstreams live;
    private final @Nullable String localZone;
    private final Map<String, Listed> listed = new HashMap<>(); // so far, by the upstream

    /** What there is to say of an upstream whatever the request. */
    private record Listed(List<Map<String, Object>> endpoints, int moreEndpoints, List<Map<String, Object>> sources) {}

    /** What a balancer may know of the request in question; notes what it asks for. */
    private static final class Question implements BalancerContext {
        private final RequestHead head;
        private final @Nullable SourceAddress client;
        private boolean askedForHead;
        private boolean askedForClient;

        Question(RequestHead head, @Nullable SourceAddress client) {
            this.head = head;
            this.client = client;
        }

        @Override
        public RequestHead head() {
            askedForHead = true;
            return head;
        }

        @Override
        public SourceAddress client() {
            askedForClient = true;
            return client == null ? SourceAddress.UNKNOWN : client;
        }

        @Override
        public @Nullable Endpoint previous() {
            return null;
        }

        @Override
        public boolean isTried(Endpoint endpoint) {
            return false;
        }
    }

    /**
     * Makes one.
     *
     * @param localZone where the gateway is, null if nobody has said so
     */
    UpstreamExplainer(LiveUpstreams live, @Nullable String localZone) {
        this.live = live;
        this.localZone = localZone;
    }

    /** Returns the upstream to which the session of a request leads, whatever the weights; null if none does. */
    @Nullable
    String ofSession(List<RuleConfig.BackendRef> refs, RequestHead head) {
        for (RuleConfig.BackendRef ref : refs.size() > 1 ? refs : List.<RuleConfig.BackendRef>of()) {
            Upstream upstream = live.find(ref.name());
            SessionPersistence sessions = upstream == null ? null : upstream.sessions();
            if (sessions != null && sessions.continues(head.fields(), ref.weight() == 0)) {
                return ref.name();
            }
        }
        return null;
    }

    /**
     * Explains an upstream.
     *
     * @param share of the requests of the rule
     * @param timeouts by their keys
     * @param filtered whether filters may change the request
     */
    Target explain(
            RuleConfig.BackendRef ref,
            UpstreamConfig config,
            double share,
            Map<String, Object> timeouts,
            RequestHead head,
            @Nullable SourceAddress client,
            boolean filtered) {
        SessionPersistenceConfig sessions = config.sessionPersistence();
        Upstream upstream = live.find(config.name());
        Listed parts = listed.computeIfAbsent(config.name(), name -> list(config, upstream));
        return new Target(
                config.name(),
                share,
                ref.position(),
                BuiltInBalancers.summary(config.loadBalancer()),
                parts.endpoints,
                parts.moreEndpoints,
                parts.sources,
                timeouts,
                sessions == null ? null : sessions.sessionName(),
                upstream == null ? null : choice(upstream, config, new Question(head, client), filtered));
    }

    private Listed list(UpstreamConfig config, @Nullable Upstream upstream) {
        int all =
                upstream == null ? config.endpoints().size() : upstream.hosts().size();
        List<Map<String, Object>> endpoints = upstream == null ? entries(config) : endpoints(config, upstream);
        return new Listed(
                endpoints,
                Math.max(0, all - endpoints.size()),
                live.sources(config.name()).stream()
                        .map(UpstreamExplainer::source)
                        .toList());
    }

    /** Returns what the configuration says of endpoints. */
    private static List<Map<String, Object>> entries(UpstreamConfig config) {
        List<Map<String, Object>> all = new ArrayList<>();
        for (EndpointConfig entry : config.endpoints().stream().limit(MOST).toList()) {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("endpoint", EndpointEntries.shown(entry));
            json.put("weight", entry.weight());
            if (entry.zone() != null) {
                json.put("zone", entry.zone());
            }
            json.put("at", entry.position().toString());
            all.add(json);
        }
        return all;
    }

    private static List<Map<String, Object>> endpoints(UpstreamConfig config, Upstream upstream) {
        Map<String, Position> places = new HashMap<>();
        for (EndpointConfig entry : config.endpoints()) {
            places.putIfAbsent(
                    entry.place().isAddress() ? EndpointEntries.shown(entry) : EndpointEntries.source(entry.place()),
                    entry.position());
        }
        List<Map<String, Object>> all = new ArrayList<>();
        for (Host host : upstream.hosts().stream().limit(MOST).toList()) {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("endpoint", host.toString());
            json.put("weight", weight(host.weight()));
            if (host.endpoint().zone() != null) {
                json.put("zone", host.endpoint().zone());
            }
            putState(json, upstream.health().report(host.endpoint()));
            json.put("getsRequests", host.isChosen());
            json.put("source", host.spec().source());
            Position at =
                    places.getOrDefault(host.toString(), places.get(host.spec().source()));
            if (at != null) {
                json.put("at", at.toString());
            }
            all.add(json);
        }
        return all;
    }

    private static Number weight(double weight) {
        return weight == Math.rint(weight) ? (Number) (long) weight : (Number) (Math.rint(weight * 1000) / 1000);
    }

    private static void putState(Map<String, Object> json, Health.Report report) {
        json.put("state", report.state().label());
        if (report.failedCheck() != null) {
            json.put("failedCheck", report.failedCheck());
        }
        if (report.ejectedMillis() > 0) {
            json.put("ejectedForSeconds", report.ejectedMillis() / 1000.0);
        }
        if (report.sessionsMillis() > 0) {
            json.put("sessionsForSeconds", report.sessionsMillis() / 1000.0);
        }
    }

    private static Map<String, Object> source(SourceState source) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("source", source.source());
        json.put("state", source.status().state().label());
        json.put("endpoints", source.endpoints());
        if (source.status().isStale()) {
            json.put("problem", source.status().problem());
        }
        json.put("at", source.at());
        return json;
    }

    private Choice choice(Upstream upstream, UpstreamConfig config, Question question, boolean filtered) {
        SessionPersistence sessions = question.head.isConnect() ? null : upstream.sessions();
        SessionPersistence.Kept kept = sessions == null ? null : sessions.find(question.head.fields());
        Endpoint ofSession = kept == null ? null : kept.endpoint();
        if (ofSession != null) {
            return new Choice(Choice.SESSION, ofSession.toString(), ofSession + ", by the session of its cookie");
        }
        Choice balanced = balanced(upstream, config.loadBalancer().policy(), question, filtered);
        if (sessions == null || balanced.by().equals(Choice.NONE)) {
            return balanced;
        }
        String why = kept == null
                ? "; the request has no session, so one begins there"
                : "; the endpoint of its session takes no requests now, so a new one begins there";
        return new Choice(balanced.by(), balanced.endpoint(), balanced.text() + why);
    }

    private Choice balanced(Upstream upstream, String policy, Question question, boolean filtered) {
        List<Host> chosen = upstream.hosts().stream().filter(Host::isChosen).toList();
        if (chosen.isEmpty()) {
            return new Choice(Choice.NONE, null, "none: " + upstream.whyNoEndpoint());
        }
        if (chosen.size() == 1) {
            Host only = chosen.get(0);
            return new Choice(Choice.BALANCER, only.toString(), only + ", the only one that gets requests");
        }
        boolean keyed = upstream.balancer().keeps(question);
        if (question.askedForClient && question.client == null) {
            return new Choice(Choice.BALANCER, null, "depends on the address of the client, which --client names");
        }
        Endpoint endpoint = keyed ? upstream.balancer().choose(question) : null;
        if (endpoint != null) {
            String unless = question.askedForHead && filtered ? ", unless a filter changes what is hashed" : "";
            return new Choice(Choice.HASH, endpoint.toString(), endpoint + ", by hash" + unless);
        }
        Double near = upstream.health().localShare();
        String among = near == null
                ? names(chosen)
                : "in " + Math.round(near * 1000) / 10.0 + " % of cases in zone " + localZone + ": "
                        + names(chosen.stream()
                                .filter(host -> Objects.equals(host.endpoint().zone(), localZone))
                                .toList());
        String unhashed =
                question.askedForHead || question.askedForClient ? ", as the request has nothing that is hashed" : "";
        String panic = upstream.health().isPanic() ? ", as too few are in service (panic mode)" : "";
        return new Choice(Choice.BALANCER, null, "by " + policy + unhashed + ": " + among + panic);
    }

    private static String names(List<Host> hosts) {
        String first = hosts.stream().limit(NAMED).map(Host::toString).collect(Collectors.joining(", "));
        int more = hosts.size() - NAMED;
        return "one of " + first + (more > 0 ? " and " + more + " more" : "");
    }
}
