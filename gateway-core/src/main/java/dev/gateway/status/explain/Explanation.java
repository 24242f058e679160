package dev.gateway.status.explain;

import dev.gateway.config.value.Position;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Explanation of a routing decision: what would become of a request, on each listener that it may come by, and by which
 * lines of the configuration. Immutable; {@link ExplanationText} writes it for people.
 *
 * @param request as it was understood
 */
public record Explanation(String request, List<OnListener> listeners) {

    /** What a verdict is about. */
    enum Verdict {
        /** A route takes the request. */
        ROUTE,
        /** A filter of the route answers it. */
        ANSWERED,
        /** The policy of an entry of the connect section lets it through. */
        ALLOWED,
        /** It is answered with an error. */
        REFUSED
    }

    /**
     * A reason.
     *
     * @param at where that is written, null if it is nowhere
     */
    record Reason(String text, @Nullable Position at) {
        public Map<String, Object> json() {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("text", text);
            place(json, at);
            return json;
        }
    }

    /**
     * Which endpoint of an upstream gets the request.
     *
     * @param by what decides: one of the words
     * @param endpoint null if it cannot be known before
     */
    record Choice(String by, @Nullable String endpoint, String text) {
        /** The session of the request does. */
        static final String SESSION = "session";

        /** A hash of parts of the request does. */
        static final String HASH = "hash";

        /** The balancer does, for each request. */
        static final String BALANCER = "balancer";

        /** No endpoint may be used. */
        static final String NONE = "none";

        public Map<String, Object> json() {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("by", by);
            if (endpoint != null) {
                json.put("endpoint", endpoint);
            }
            json.put("text", text);
            return json;
        }
    }

    /**
     * An upstream that may be chosen.
     *
     * @param share of the requests of its route, 0 to 1
     * @param loadBalancer how an endpoint is chosen, in words
     * @param endpoints of a running gateway those that there are now, else the entries of the configuration
     * @param moreEndpoints how many are not among them
     * @param sources of endpoints, of a running gateway
     * @param sessionName the cookie that keeps a client at its endpoint, null if none does
     * @param choice null if no gateway runs
     */
    record Target(
            String upstream,
            double share,
            @Nullable Position at,
            String loadBalancer,
            List<Map<String, Object>> endpoints,
            int moreEndpoints,
            List<Map<String, Object>> sources,
            Map<String, Object> timeouts,
            @Nullable String sessionName,
            @Nullable Choice choice) {
        public Map<String, Object> json() {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("upstream", upstream);
            json.put("share", share);
            place(json, at);
            json.put("loadBalancer", loadBalancer);
            json.put("endpoints", endpoints);
            if (moreEndpoints > 0) {
                json.put("moreEndpoints", moreEndpoints);
            }
            if (!sources.isEmpty()) {
                json.put("sources", sources);
            }
            json.put("timeouts", timeouts);
            if (sessionName != null) {
                json.put("sessionName", sessionName);
            }
            if (choice != null) {
                json.put("choice", choice.json());
            }
            return json;
        }
    }

    /**
     * What takes the request: a rule of a route, or an entry of the connect section.
     *
     * @param name as logs and metrics have it
     * @param filters in the order in which they see it
     * @param timeouts by the names that the configuration has for them
     */
    record Taken(
            String name,
            Position at,
            List<Reason> filters,
            List<Target> targets,
            Map<String, Object> timeouts,
            Map<String, Object> more) {
        public Map<String, Object> json() {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("name", name);
            json.put("at", at.toString());
            json.put("filters", filters.stream().map(Reason::json).toList());
            json.put("upstreams", targets.stream().map(Target::json).toList());
            json.put("timeouts", timeouts);
            json.putAll(more);
            return json;
        }
    }

    /** What did not take the request, and why. */
    record NearMiss(String name, Position at, List<Reason> fits, List<Reason> misses) {
        public Map<String, Object> json() {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("name", name);
            json.put("at", at.toString());
            json.put("fits", fits.stream().map(Reason::json).toList());
            json.put("misses", misses.stream().map(Reason::json).toList());
            return json;
        }
    }

    /**
     * What becomes of the request on one listener.
     *
     * @param status of the gateway's own answer, 0 if the upstream answers
     * @param summary one line for people
     * @param reasons why it is so
     * @param taken null if it is refused before anything takes it
     * @param nearMisses those that lack least first, and not all of them
     */
    record OnListener(
            String listener,
            Position at,
            Verdict verdict,
            int status,
            String summary,
            List<Reason> reasons,
            @Nullable Taken taken,
            List<NearMiss> nearMisses) {
        /** Returns the same with a further reason. */
        OnListener because(Reason further) {
            List<Reason> all = new ArrayList<>(reasons);
            all.add(further);
            return new OnListener(listener, at, verdict, status, summary, List.copyOf(all), taken, nearMisses);
        }

        public Map<String, Object> json() {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("listener", listener);
            json.put("at", at.toString());
            json.put("verdict", verdict.name().toLowerCase(Locale.ROOT));
            if (status > 0) {
                json.put("status", status);
            }
            json.put("summary", summary);
            json.put("reasons", reasons.stream().map(Reason::json).toList());
            if (taken != null) {
                json.put("taken", taken.json());
            }
            json.put("nearMisses", nearMisses.stream().map(NearMiss::json).toList());
            return json;
        }
    }

    /** Returns it as maps, lists, strings and numbers. */
    public Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("request", request);
        json.put("listeners", listeners.stream().map(OnListener::json).toList());
        return json;
    }

    private static void place(Map<String, Object> json, @Nullable Position at) {
        if (at != null) {
            json.put("at", at.toString());
        }
    }
}
