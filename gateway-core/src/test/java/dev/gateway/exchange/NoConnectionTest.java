package dev.gateway.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.exchange.route.Route;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.upstream.Balancer;
import dev.gateway.upstream.BalancerContext;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.HealthSettings;
import dev.gateway.upstream.OutlierDetection;
import dev.gateway.upstream.OutlierDetection.Counts;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.dial.UpstreamValues;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests for which no connection can be made, and where else they go. */
class NoConnectionTest extends ExchangeRig {
    private static final Endpoint THIRD = new Endpoint(2, "app3.test", 9000, 1);
    private static final Failure REFUSED = Failure.of(Cause.CONNECT_FAILED, RetrySafety.ALWAYS, "refused");
    private static final long CONNECT_MILLIS = 5_000;

    private boolean keeps; // whether the balancer is one that keeps requests at an endpoint

    private Health begin(Endpoint... all) {
        endpoints = List.of(all);
        Health made = new Health(
                endpoints,
                hosts -> new Balancer() {
                    @Override
                    public @Nullable Endpoint choose(BalancerContext request) {
                        return hosts.isEmpty() ? null : hosts.get(0).endpoint();
                    }

                    @Override
                    public boolean keeps(BalancerContext request) {
                        return keeps;
                    }
                },
                new HealthSettings(new OutlierDetection(Counts.ABSENCE, 1, 30_000, 30_000, 100), null, 0, 0),
                () -> now);
        health = made;
        app = new Upstream(
                "app",
                made,
                UpstreamValues.builder()
                        .maxConnections(10)
                        .maxPendingRequests(10)
                        .maxRequests(10)
                        .connectMillis(CONNECT_MILLIS)
                        .build());
        return made;
    }

    private void ask(String method) {
        settings.route(filters, Objects.requireNonNull(app), timeouts, retry);
        handler().onRequest(client, head(method, "/"), true);
    }

    private void answer() {
        opener.last().succeed();
        opener.last().events.onHead(response(200), true);
        assertThat(record().status).isEqualTo(200);
    }

    private List<Endpoint> asked() {
        return opener.openings.stream().map(opening -> opening.endpoint).toList();
    }

    @Test
    void anEjectedEndpointIsBetterThanNone() {
        Health health = begin(FIRST, SECOND);
        health.onUnreached(FIRST, Cause.CONNECT_FAILED);
        ask("POST");
        assertThat(opener.last().callback.takesEjected()).isTrue();
        opener.last().fail(REFUSED);
        assertThat(asked()).containsExactly(SECOND, FIRST);
        answer();
    }

    @Test
    void endpointsInServiceComeFirst() {
        Health health = begin(FIRST, SECOND, THIRD);
        health.onUnreached(FIRST, Cause.CONNECT_FAILED);
        ask("GET");
        opener.last().fail(REFUSED);
        opener.last().fail(REFUSED);
        assertThat(asked()).containsExactly(SECOND, THIRD, FIRST);
        opener.last().fail(REFUSED);
        assertAnswered(502, Cause.CONNECT_FAILED);
        assertThat(asked()).hasSize(3);
    }

    @Test
    void oneThatDrainsOrFailsItsChecksIsNotTried() {
        Health health = begin(FIRST, SECOND, THIRD);
        health.onUnreached(FIRST, Cause.CONNECT_FAILED);
        health.onChecked(FIRST, "down");
        health.onUnreached(SECOND, Cause.CONNECT_FAILED);
        health.drain(SECOND.toString(), true);
        ask("GET");
        opener.last().fail(REFUSED);
        assertAnswered(502, Cause.CONNECT_FAILED);
        assertThat(asked()).containsExactly(THIRD);
    }

    @ParameterizedTest
    @EnumSource(
            value = Cause.class,
            names = {"PENDING_OVERFLOW", "PENDING_TIMEOUT", "OVERLOAD"})
    void whatLacksRoomDoesNotGoToAnEjectedEndpoint(Cause cause) {
        Health health = begin(FIRST, SECOND);
        health.onUnreached(FIRST, Cause.CONNECT_FAILED);
        ask("GET");
        opener.last().fail(failure(cause, RetrySafety.ALWAYS));
        assertAnswered(cause.status(), cause);
        assertThat(asked()).containsExactly(SECOND);
    }

    @Test
    void noMoreEndpointsAreTriedThanThereIsTimeFor() {
        Health health = begin(FIRST, SECOND, THIRD);
        health.onUnreached(FIRST, Cause.CONNECT_FAILED);
        health.onUnreached(SECOND, Cause.CONNECT_FAILED);
        ask("GET");
        pass(CONNECT_MILLIS / 2);
        opener.last().fail(REFUSED);
        assertThat(asked()).hasSize(2);
        pass(CONNECT_MILLIS / 2);
        opener.last().fail(REFUSED);
        assertAnswered(502, Cause.CONNECT_FAILED);
        assertThat(asked()).hasSize(2);
    }

    @Test
    void aRetryOfThePolicyDoesNotReturnWhereNoConnectionCouldBeMade() {
        retry = new Route.Retry(1, Set.of(), 0);
        Health health = begin(FIRST, SECOND, THIRD);
        health.onUnreached(SECOND, Cause.CONNECT_FAILED);
        health.onUnreached(THIRD, Cause.CONNECT_FAILED);
        ask("GET");
        opener.last().fail(REFUSED);
        opener.last().succeed();
        opener.last().events.onReset(failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.IF_IDEMPOTENT));
        assertThat(asked()).startsWith(FIRST).containsExactlyInAnyOrder(FIRST, SECOND, THIRD);
        answer();
    }

    /** The endpoint is there: a hash has chosen it for what it knows. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void afterAClosedConnectionOrARefusedStreamAHashKeepsItsEndpoint(boolean isStale) {
        keeps = true;
        begin(FIRST, SECOND);
        ask("GET");
        opener.last().succeed();
        opener.last()
                .events
                .onReset(
                        isStale
                                ? stale(RetrySafety.IF_IDEMPOTENT)
                                : failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, RetrySafety.ALWAYS));
        assertThat(asked()).containsExactly(FIRST, FIRST);
        opener.last().fail(REFUSED);
        assertThat(asked()).containsExactly(FIRST, FIRST, SECOND);
        answer();
    }
}
