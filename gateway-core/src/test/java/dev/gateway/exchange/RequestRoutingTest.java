package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.route.TunnelTimeouts;
import dev.gateway.exchange.ExchangeState.Phase;
import dev.gateway.exchange.route.Route;
import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.Verdict;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.NamedByRequest;
import dev.gateway.upstream.dial.UpstreamSettings;
import dev.gateway.upstream.dial.UpstreamValues;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The way of a request from its head to its upstream, as the owner is told of it. */
class RequestRoutingTest extends PartRig {
    private final List<Filter> filters = new ArrayList<>();

    @AfterEach
    void end() {
        owner.deadlines().cancel();
    }

    private void enter(long requestMillis) {
        UpstreamSettings limits = UpstreamValues.builder()
                .maxConnections(1)
                .maxPendingRequests(1)
                .maxRequests(1)
                .build();
        Upstream app = new Upstream("app", List.of(), NamedByRequest.POLICY, limits);
        settings.route(filters, app, new Route.Timeouts(requestMillis, 0, 0, TunnelTimeouts.NONE), Route.Retry.NONE);
        owner.routing().enter(settings);
    }

    private record Saying(Verdict verdict) implements Filter {
        @Override
        public Verdict onRequest(RequestHead head, FilterContext context) {
            return verdict;
        }
    }

    /** Proceeds, and throws at whatever follows. */
    private static final class Throwing implements Filter {
        @Override
        public void onRequestTrailers(Fields trailers, FilterContext context) {
            throw new IllegalStateException("a request's trailers");
        }

        @Override
        public void onResponse(ResponseHead head, FilterContext context) {
            throw new IllegalStateException("a response");
        }

        @Override
        public void onResponseTrailers(Fields trailers, FilterContext context) {
            throw new IllegalStateException("a response's trailers");
        }
    }

    @Test
    void aRequestWithARouteGoesToItsUpstream() {
        enter(100);
        assertThat(told).containsExactly("send to app");
        assertThat(exchange().state.phase()).isEqualTo(Phase.CONNECTING);
        assertThat(exchange().record.route).isEqualTo("app");
        assertThat(owner.routing().isFiltered()).isFalse();
        assertThat(owner.routing().isProxied()).isFalse();
    }

    @Test
    void aRoutesTimeBeginsWithTheRequest() {
        exchange().record.startNanos = now;
        enter(100);
        pass(130);
        assertThat(told).containsExactly("send to app", "timeout: no whole response in 100 ms");
    }

    @Test
    void withoutARouteItFails() {
        owner.routing().enter(settings);
        assertThat(told).containsExactly("failed: no_route");
        assertThat(owner.routing().tunnelLimits()).isEqualTo(TunnelTimeouts.NONE);
    }

    @Test
    void whatMustNotBeForwardedFailsBeforeItHasARoute() {
        exchange("TRACE");
        enter(100);
        assertThat(told).containsExactly("failed: no_route");
        assertThat(exchange().record.route).isEmpty();
    }

    @Test
    void optionsThatGoNoFurtherAreAnswered() {
        exchange("OPTIONS").head.fields().add(FieldName.MAX_FORWARDS, "0");
        enter(0);
        assertThat(told).containsExactly("answered 200, 0 bytes");
        assertThat(exchange().state.isDone()).isTrue();
    }

    @Test
    void aRequestThatHasTakenTheRouteBeforeFails() {
        settings.signature.sign(exchange().head.fields(), client.connection().version());
        enter(0);
        assertThat(told).containsExactly("failed: loop_detected");
    }

    @Test
    void aFiltersReplyIsSent() {
        filters.add(new Saying(new Verdict.Reply(ExchangeRig.response(302), bytes("moved"))));
        enter(0);
        assertThat(client.body).hasToString("moved");
        assertThat(told).containsExactly("answered 302, 5 bytes");
    }

    @Test
    void aFiltersReplyMayBeARefusal() {
        Failure refusal = Failure.of(Cause.AUTHZ_DENIED, 302, "log in first");
        filters.add(new Saying(new Verdict.Reply(ExchangeRig.response(302), bytes("moved"), refusal)));
        enter(0);
        assertThat(told).containsExactly("answered 302, 5 bytes: authz_denied");
    }

    @Test
    void aReplyThatComesTooLateIsDropped() {
        enter(0);
        owner.routing().onFilterReplied(new Verdict.Reply(ExchangeRig.response(302), bytes("moved")));
        assertThat(client.heads).isEmpty();
    }

    @Test
    void aFiltersRefusalIsTheExchangesFailure() {
        filters.add(new Saying(new Verdict.Refuse(Failure.of(Cause.RATE_LIMITED, "too many"))));
        enter(0);
        assertThat(told).containsExactly("failed: rate_limited");
    }

    @Test
    void aFilterThatWaitsHoldsTheRequestUntilItIsCancelled() {
        filters.add(new Saying(new Verdict.Wait(() -> told.add("cancelled"))));
        enter(0);
        assertThat(exchange().state.phase()).isEqualTo(Phase.FILTERING);
        owner.routing().cancel();
        assertThat(told).containsExactly("cancelled");
    }

    @Test
    void aFilterThatThrowsEndsTheExchange() {
        filters.add(new Throwing());
        enter(0);
        RequestRouting routing = owner.routing();
        assertThat(routing.isFiltered()).isTrue();
        assertThat(routing.onRequestTrailers(new Fields())).isFalse();
        assertThat(routing.onResponse(ExchangeRig.response(200))).isFalse();
        assertThat(routing.onResponseTrailers(new Fields())).isFalse();
        assertThat(told)
                .containsExactly(
                        "send to app",
                        "defect: a request's trailers",
                        "defect: a response",
                        "defect: a response's trailers");
    }

    @Test
    void withoutFiltersHeadsAndTrailersPass() {
        enter(0);
        RequestRouting routing = owner.routing();
        assertThat(routing.onRequestTrailers(new Fields())).isTrue();
        assertThat(routing.onResponse(ExchangeRig.response(200))).isTrue();
        assertThat(routing.onResponseTrailers(new Fields())).isTrue();
        assertThat(routing.inspector()).isNull();
    }
}
