package dev.gateway.exchange.settings;

import dev.gateway.config.listener.ErrorPagesConfig;
import dev.gateway.config.listener.ListenerConfig;
import dev.gateway.config.observe.TracingConfig;
import dev.gateway.files.StartException;
import dev.gateway.filter.ErrorAnswer;
import dev.gateway.filter.ErrorBody;
import dev.gateway.filter.FilterStates;
import dev.gateway.filter.errorpages.ErrorPageFiles;
import dev.gateway.filter.errorpages.ErrorPages;
import dev.gateway.format.CidrSet;
import dev.gateway.format.Durations;
import dev.gateway.message.FieldName;
import dev.gateway.message.forwarded.ForwardedFields;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * What exchanges of a listener need of their generation until their response begins. It leads to no route and to no upstream.
 * Immutable, shared by all event loops.
 *
 * @param generation 1 for the first
 * @param traces what is done about traces, null for nothing
 * @param offersTunnels whether it takes CONNECT
 * @param trust which fields are believed, and from whom
 * @param forwarded which fields tell upstreams about clients
 * @param signsAll whether every request gets {@code Via}
 * @param maxRequestLineBytes of a request, whatever its protocol
 * @param maxRequestBodyBytes of a request, 0 for no limit
 * @param bodyRate that clients must send bodies at, null for any
 * @param requestIds how requests are told apart
 * @param serverHeader what becomes of {@code Server}
 * @param errorPages the listener's error pages, for errors without a page of their rule; null if it has none
 */
public record ListenerPolicy(
        int generation,
        @Nullable TracingConfig traces,
        boolean offersTunnels,
        ClientTrust trust,
        ForwardedFields forwarded,
        boolean signsAll,
        int maxRequestLineBytes,
        long maxRequestBodyBytes,
        @Nullable BodyRate bodyRate,
        RequestIdSettings requestIds,
        ServerHeader serverHeader,
        @Nullable ErrorPages errorPages)
        implements ExchangeSettings {
    private static final AsciiString NAME = new AsciiString("gateway");

    /** How far a client may be behind with a body, where it may be silent for as long as it likes. */
    private static final long DEFAULT_GRACE_MILLIS = 60_000;

    /** What is left for exchanges whose response has begun. */
    static final ExchangeSettings AFTER_HEAD = new AfterHead();

    /** Names only: nothing is left to decide. All other answers are the usual ones. */
    private static final class AfterHead implements ExchangeSettings {
        @Override
        public ClientTrust trust() {
            return ClientTrust.NOBODY;
        }

        @Override
        public @Nullable ForwardedFields forwarded() {
            return null;
        }

        @Override
        public AsciiString name() {
            return NAME;
        }
    }

    /**
     * Makes what exchanges of a listener need.
     *
     * @param offersTunnels whether it takes CONNECT
     * @param states has the error pages that it reads and follows
     */
    public static ListenerPolicy of(
            int generation,
            ListenerConfig listener,
            TracingConfig tracing,
            boolean offersTunnels,
            FilterStates.Prepared states)
            throws StartException {
        ErrorPagesConfig pages = listener.http().errorPages();
        return new ListenerPolicy(
                generation,
                tracing.mode() == TracingConfig.Mode.OFF ? null : tracing,
                offersTunnels,
                new ClientTrust(
                        CidrSet.of(listener.http().trustedProxies()),
                        tracing.trust() == TracingConfig.Trust.ANYONE,
                        listener.http().headersWithUnderscores()),
                new ForwardedFields(listener.http().forwardedHeaders()),
                listener.http().via() == ListenerConfig.Via.ALWAYS,
                (int) listener.limits().maxRequestLine(),
                listener.limits().maxBody(),
                bodyRate(listener),
                new RequestIdSettings(
                        FieldName.of(listener.http().requestId().header()),
                        listener.http().requestId().format()),
                new ServerHeader(
                        listener.http().serverHeader().transformation(),
                        new AsciiString(listener.http().serverHeader().name())),
                pages == null ? null : ErrorPageFiles.pages(pages, states));
    }

    private static @Nullable BodyRate bodyRate(ListenerConfig listener) {
        long rate = listener.minBodyRate();
        long idle = Durations.millis(listener.timeouts().requestBodyIdle());
        return rate == 0 ? null : new BodyRate(rate, idle == 0 ? DEFAULT_GRACE_MILLIS : idle);
    }

    @Override
    public ExchangeSettings afterHead() {
        return AFTER_HEAD;
    }

    @Override
    public ErrorBody errorBody(ErrorAnswer answer) {
        return errorPages == null ? ErrorBody.UNCHANGED : errorPages.errorBody(answer);
    }

    @Override
    public AsciiString name() {
        return NAME;
    }
}
