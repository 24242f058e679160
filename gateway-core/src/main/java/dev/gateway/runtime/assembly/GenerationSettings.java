package dev.gateway.runtime.assembly;

import dev.gateway.exchange.settings.BodyRate;
import dev.gateway.exchange.settings.ClientTrust;
import dev.gateway.exchange.settings.ExchangeSettings;
import dev.gateway.filter.ErrorAnswer;
import dev.gateway.filter.ErrorBody;
import dev.gateway.filter.errorpages.ErrorPages;
import dev.gateway.message.forwarded.ForwardedFields;
import dev.gateway.observe.trace.TraceSettings;
import io.netty.util.AsciiString;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What exchanges keep of their generation until their response begins. It leads to no route and to no upstream. Immutable,
 * shared by all event loops.
 *
 * @param generation 1 for the first
 * @param traces what is done about traces, null for nothing
 * @param policies what exchanges need of each listener, by its index; null where this generation has none
 */
record GenerationSettings(int generation, @Nullable TraceSettings traces, List<@Nullable ListenerPolicy> policies)
        implements ExchangeSettings {
    private static final AsciiString NAME = new AsciiString("gateway");

    /** What is left for exchanges whose response has begun. */
    private static final GenerationSettings AFTER_HEAD = new GenerationSettings(0, null, List.of());

    /**
     * What exchanges need of a listener.
     *
     * @param offersTunnels whether it takes CONNECT
     * @param trust which fields are believed, and from whom
     * @param forwarded which fields tell upstreams about clients
     * @param signsAll whether every request gets {@code Via}
     * @param maxRequestLineBytes of a request, whatever its protocol
     * @param maxBodyBytes of a request, 0 for no limit
     * @param bodyRate that clients must send bodies at, null for any
     * @param errorPages the listener's error pages, for errors without a page of their rule; null if it has none
     */
    record ListenerPolicy(
            boolean offersTunnels,
            ClientTrust trust,
            ForwardedFields forwarded,
            boolean signsAll,
            int maxRequestLineBytes,
            long maxBodyBytes,
            @Nullable BodyRate bodyRate,
            @Nullable ErrorPages errorPages) {}

    @Override
    public ExchangeSettings afterHead() {
        return AFTER_HEAD;
    }

    private ListenerPolicy policy(int listener) {
        ListenerPolicy policy = policies.get(listener);
        if (policy == null) {
            throw new IllegalArgumentException("generation " + generation + " has no listener " + listener);
        }
        return policy;
    }

    @Override
    public boolean offersTunnels(int listener) {
        return policy(listener).offersTunnels;
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
