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
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The way of a request from its head to its upstream, as the owner is told of it. */
class RequestRoutingTest extends PartRig {
    private final List<Filter> filters = new ArrayList<>();

    @AfterEach
    void end() {
        exchange().onReset(Failure.of(Cause.CLIENT_CLOSED, "gone"));
    }

    private void enter(long requestMillis) {
        settings.route(filters, app(), new Route.Timeouts(requestMillis, 0, 0, TunnelTimeouts.NONE), Route.Retry.NONE);
        enter();
    }

    private void assertFailed(Cause cause) {
        assertThat(records.completed).extracting(record -> record.cause).containsExactly(cause);
        assertThat(opener.openings).isEmpty();
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
        assertThat(opener.openings).hasSize(1);
        assertThat(exchange().record.upstream).isEqualTo("app");
        assertThat(exchange().state.phase()).isEqualTo(Phase.CONNECTING);
        assertThat(exchange().record.route).isEqualTo("app");
        assertThat(exchange().routing.isFiltered()).isFalse();
        assertThat(exchange().routing.isProxied()).isFalse();
    }

    @Test
    void aRoutesTimeBeginsWithTheRequest() {
        enter(100);
        pass(130);
        assertThat(opener.openings).hasSize(1);
        assertThat(exchange().record.detail).isEqualTo("no whole response in 100 ms");
    }

    @Test
    void withoutARouteItFails() {
        enter();
        assertFailed(Cause.NO_ROUTE);
        assertThat(exchange().routing.tunnelLimits()).isEqualTo(TunnelTimeouts.NONE);
    }

    @Test
    void whatMustNotBeForwardedFailsBeforeItHasARoute() {
        exchange("TRACE");
        enter(100);
        assertFailed(Cause.NO_ROUTE);
        assertThat(exchange().record.route).isEmpty();
    }

    @Test
    void optionsThatGoNoFurtherAreAnswered() {
        exchange("OPTIONS").head.fields().add(FieldName.MAX_FORWARDS, "0");
        enter(0);
        assertThat(client.status()).isEqualTo(200);
        assertThat(exchange().state.isDone()).isTrue();
    }

    @Test
    void aRequestThatHasTakenTheRouteBeforeFails() {
        settings.signature.sign(exchange().head.fields(), client.connection().version());
        enter(0);
        assertFailed(Cause.LOOP_DETECTED);
    }

    @Test
    void aFiltersReplyIsSent() {
        filters.add(new Saying(new Verdict.Reply(ExchangeRig.response(302), bytes("moved"))));
        enter(0);
        assertThat(client.body).hasToString("moved");
        assertThat(exchange().record.status).isEqualTo(302);
        assertThat(exchange().record.sentBytes).isEqualTo(5);
        assertThat(exchange().record.cause).isNull();
    }

    @Test
    void aFiltersReplyMayBeARefusal() {
        Failure refusal = Failure.of(Cause.AUTHZ_DENIED, 302, "log in first");
        filters.add(new Saying(new Verdict.Reply(ExchangeRig.response(302), bytes("moved"), refusal)));
        enter(0);
        assertThat(exchange().record.status).isEqualTo(302);
        assertFailed(Cause.AUTHZ_DENIED);
    }

    @Test
    void aReplyThatComesTooLateIsDropped() {
        enter(0);
        exchange().routing.onFilterReplied(new Verdict.Reply(ExchangeRig.response(302), bytes("moved")));
        assertThat(client.heads).isEmpty();
    }

    @Test
    void aFiltersRefusalIsTheExchangesFailure() {
        filters.add(new Saying(new Verdict.Refuse(Failure.of(Cause.RATE_LIMITED, "too many"))));
        enter(0);
        assertFailed(Cause.RATE_LIMITED);
    }

    @Test
    void aFilterThatWaitsHoldsTheRequestUntilItIsCancelled() {
        filters.add(new Saying(new Verdict.Wait(() -> told.add("cancelled"))));
        enter(0);
        assertThat(exchange().state.phase()).isEqualTo(Phase.FILTERING);
        exchange().routing.cancel();
        assertThat(told).containsExactly("cancelled");
    }

    @Test
    void aFilterThatThrowsAtTheTrailersOfTheRequestEndsTheExchange() {
        assertEndsTheExchange(routing -> routing.onRequestTrailers(new Fields()));
    }

    @Test
    void aFilterThatThrowsAtTheResponseEndsTheExchange() {
        assertEndsTheExchange(routing -> routing.onResponse(ExchangeRig.response(200)));
    }

    @Test
    void aFilterThatThrowsAtTheTrailersOfTheResponseEndsTheExchange() {
        assertEndsTheExchange(routing -> routing.onResponseTrailers(new Fields()));
    }

    private void assertEndsTheExchange(Predicate<RequestRouting> call) {
        filters.add(new Throwing());
        enter(0);
        assertThat(exchange().routing.isFiltered()).isTrue();
        assertThat(call.test(exchange().routing)).isFalse();
        assertThat(records.completed).extracting(record -> record.cause).containsExactly(Cause.UNKNOWN);
    }

    @Test
    void withoutFiltersHeadsAndTrailersPass() {
        enter(0);
        RequestRouting routing = exchange().routing;
        assertThat(routing.onRequestTrailers(new Fields())).isTrue();
        assertThat(routing.onResponse(ExchangeRig.response(200))).isTrue();
        assertThat(routing.onResponseTrailers(new Fields())).isTrue();
        assertThat(routing.inspector()).isNull();
    }
}
