package dev.gateway.status.explain;

import dev.gateway.config.ConnectConfig;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.listener.IpAccessConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.connect.OwnListeners;
import dev.gateway.status.explain.Explanation.OnListener;
import dev.gateway.status.explain.Explanation.Reason;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Answers a {@link ExplainRequest} by a configuration, whether or not a gateway runs by it. Blocks, and takes its time: not for
 * event loops.
 */
public final class Explainer {
    private static final int NOT_FOUND = 404;

    private final GatewayConfig config;
    private final LiveUpstreams live;
    private final OwnListeners own;

    /**
     * Makes one.
     *
     * @param live the upstreams of the gateway that would get the request
     * @param own where the gateway listens that would get the request
     */
    public Explainer(GatewayConfig config, LiveUpstreams live, OwnListeners own) {
        this.config = config;
        this.live = live;
        this.own = own;
    }

    /**
     * Explains what becomes of a request.
     *
     * @throws IllegalArgumentException if there is no such listener
     */
    public Explanation explain(ExplainRequest question) {
        UpstreamExplainer upstreams = new UpstreamExplainer(live, config.localZone());
        List<OnListener> answers = new ArrayList<>();
        for (ListenerConfig listener : config.listeners()) {
            boolean meant = question.listener() == null
                    ? listener.isHttp()
                    : listener.name().equals(question.listener());
            if (meant) {
                OnListener answer = explain(listener, question, upstreams);
                IpAccessConfig access = listener.ipAccess();
                answers.add(
                        access == null
                                ? answer
                                : answer.because(new Reason(
                                        "ipAccess of the listener may refuse the connection", access.position())));
            }
        }
        if (answers.isEmpty() && question.listener() != null) {
            throw new IllegalArgumentException("listener: expected one of "
                    + String.join(
                            ", ",
                            config.listeners().stream()
                                    .map(ListenerConfig::name)
                                    .toList())
                    + ", not " + question.listener());
        }
        return new Explanation(question.toString(), answers);
    }

    private OnListener explain(ListenerConfig listener, ExplainRequest question, UpstreamExplainer upstreams) {
        ConnectConfig entry = entry(listener);
        if (question.connect() != null) {
            return entry == null
                    ? ConnectExplainer.none(listener)
                    : new ConnectExplainer(listener, entry, own).explain(question);
        }
        if (entry != null && entry.pac() != null && isPage(entry.pac(), question)) {
            return ConnectExplainer.page(listener, entry.pac());
        }
        OnListener routed = new RouteExplainer(config, listener, upstreams).explain(question);
        // What no route takes, and names a host by itself, comes under the policy of tunnels.
        return entry != null && question.isAbsolute() && routed.status() == NOT_FOUND && routed.taken() == null
                ? new ConnectExplainer(listener, entry, own).explain(question.toTarget())
                : routed;
    }

    private @Nullable ConnectConfig entry(ListenerConfig listener) {
        for (ConnectConfig entry : config.connect()) {
            if (entry.parentRefs().stream().anyMatch(ref -> ref.name().equals(listener.name()))) {
                return entry;
            }
        }
        return null;
    }

    /** Whether a request is for the listener's own page, which comes before all routes. */
    private static boolean isPage(ConnectConfig.Pac page, ExplainRequest question) {
        int query = question.path().indexOf('?');
        String path = query < 0 ? question.path() : question.path().substring(0, query);
        return !question.isAbsolute()
                && path.equals(page.path())
                && (question.method().equals("GET") || question.method().equals("HEAD"));
    }
}
