package dev.gateway.assembly;

import dev.gateway.exchange.BodyRate;
import dev.gateway.exchange.ClientTrust;
import dev.gateway.exchange.ExchangeSettings;
import dev.gateway.filter.ErrorAnswer;
import dev.gateway.filter.ErrorBody;
import dev.gateway.filter.errorpages.ErrorPages;
import dev.gateway.message.ForwardedFields;
import dev.gateway.route.Router;
import dev.gateway.trace.TraceSettings;
import dev.gateway.upstream.Upstream;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One generation: what a configuration has become. Exchanges keep the one they began with until their response begins.
 * Immutable except for what its upstreams count; shared by all event loops.
 *
 * @param generation 1 for the first
 * @param traces what is done about traces, null for nothing
 * @param policies what exchanges need of each listener, by its index; null where this generation has none
 * @param upstreams all of them: in the order of the configuration, then servers of keys, and those of connect last
 * @param connect what the entries of the connect section have become, by their names
 */
public record Generation(
        int generation,
        @Nullable TraceSettings traces,
        List<@Nullable ListenerPolicy> policies,
        List<Upstream> upstreams,
        Map<String, ConnectEntry> connect)
        implements ExchangeSettings {
    private static final AsciiString NAME = new AsciiString("gateway");

    /** What is left for exchanges whose response has begun. */
    private static final Generation AFTER_HEAD = new Generation(0, null, List.of(), List.of(), Map.of());

    /**
     * What exchanges need of a listener.
     *
     * @param tunnels the routes of CONNECT, null if there is none
     * @param trust which fields are believed, and from whom
     * @param forwarded which fields tell upstreams about clients
     * @param signsAll whether every request gets {@code Via}
     * @param maxRequestLineBytes of a request, whatever its protocol
     * @param maxBodyBytes of a request, 0 for no limit
     * @param bodyRate that clients must send bodies at, null for any
     * @param errorPages for errors that no rule has a page for, null if there are none
     */
    record ListenerPolicy(
            Router router,
            @Nullable Router tunnels,
            ClientTrust trust,
            ForwardedFields forwarded,
            boolean signsAll,
            int maxRequestLineBytes,
            long maxBodyBytes,
            @Nullable BodyRate bodyRate,
            @Nullable ErrorPages errorPages) {}

    public Generation {
        policies = Collections.unmodifiableList(new ArrayList<>(policies));
        upstreams = List.copyOf(upstreams);
        connect = Map.copyOf(connect);
    }

    /** Makes a generation of policies by the index of their listener. */
    static Generation of(
            int generation,
            @Nullable TraceSettings traces,
            Map<Integer, ListenerPolicy> policies,
            List<Upstream> upstreams,
            Map<String, ConnectEntry> connect) {
        int listeners = policies.isEmpty() ? 0 : Collections.max(policies.keySet()) + 1;
        List<@Nullable ListenerPolicy> table = new ArrayList<>();
        for (int i = 0; i < listeners; i++) {
            table.add(policies.get(i));
        }
        List<Upstream> all = new ArrayList<>(upstreams);
        connect.values().forEach(entry -> all.addAll(entry.upstreams()));
        return new Generation(generation, traces, table, all, connect);
    }

    @Override
    public int listeners() {
        return policies.size();
    }

    @Override
    public ExchangeSettings afterHead() {
        return AFTER_HEAD;
    }

    @Override
    public boolean serves(int listener) {
        return policies.get(listener) != null;
    }

    private ListenerPolicy policy(int listener) {
        ListenerPolicy policy = policies.get(listener);
        if (policy == null) {
            throw new IllegalArgumentException("generation " + generation + " has no listener " + listener);
        }
        return policy;
    }

    @Override
    public Router router(int listener) {
        return policy(listener).router;
    }

    @Override
    public @Nullable Router tunnels(int listener) {
        return policy(listener).tunnels;
    }

    @Override
    public ErrorBody errorBody(int listener, ErrorAnswer answer) {
        ErrorPages pages = policy(listener).errorPages;
        return pages == null ? ErrorBody.UNCHANGED : pages.errorBody(answer);
    }

    @Override
    public ClientTrust trust(int listener) {
        return policy(listener).trust;
    }

    @Override
    public ForwardedFields forwarded(int listener) {
        return policy(listener).forwarded;
    }

    @Override
    public boolean signsAll(int listener) {
        return policy(listener).signsAll;
    }

    @Override
    public AsciiString name() {
        return NAME;
    }

    @Override
    public AsciiString server() {
        return NAME;
    }

    @Override
    public int maxRequestLineBytes(int listener) {
        return policy(listener).maxRequestLineBytes;
    }

    @Override
    public long maxRequestBodyBytes(int listener) {
        return policy(listener).maxBodyBytes;
    }

    @Override
    public @Nullable BodyRate bodyRate(int listener) {
        return policy(listener).bodyRate;
    }
}
