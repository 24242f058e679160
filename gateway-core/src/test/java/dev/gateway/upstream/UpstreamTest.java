package dev.gateway.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.upstream.OutlierDetection.Counts;
import dev.gateway.upstream.balancer.NamedByRequest;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.UpstreamSettings;
import dev.gateway.upstream.dial.UpstreamValues;
import dev.gateway.upstream.limit.Share;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class UpstreamTest {
    private static final long HOUR_NANOS = TimeUnit.HOURS.toNanos(1);
    private static final List<Endpoint> ENDPOINTS =
            List.of(new Endpoint(0, "192.0.2.0", 80, 1), new Endpoint(1, "192.0.2.1", 80, 1));
    private static final Endpoint NAMED = new Endpoint(Endpoint.NAMED_INDEX, "a.example", 443, 1);

    private final UpstreamSettings settings = UpstreamValues.builder()
            .maxConnections(4)
            .maxPendingRequests(3)
            .maxRequests(6)
            .build();
    private final Health health = new Health(
            ENDPOINTS,
            RoundRobin::new,
            new OutlierDetection(Counts.ABSENCE, 1, 1000, 1000, 50),
            null,
            System::nanoTime);
    private final Upstream upstream = new Upstream("app", health, settings);

    private static int take(Share share) {
        int taken = 0;
        while (share.tryAcquire()) {
            taken++;
        }
        return taken;
    }

    @Test
    void connectionsAndRequestsHaveLimitsOfTheirOwn() {
        Host host = upstream.host(ENDPOINTS.get(0));
        assertThat(take(host.connections())).isEqualTo(2);
        assertThat(take(host.requests())).isEqualTo(3);
        assertThat(upstream.connections().taken()).isEqualTo(2);
        assertThat(upstream.requests().taken()).isEqualTo(3);
        assertThat(upstream.pendingRequests().taken()).isZero();
        for (int i = 0; i < 3; i++) {
            assertThat(upstream.pendingRequests().tryTake("a client", 0, place -> {}))
                    .isNotNull();
        }
        assertThat(upstream.pendingRequests().tryTake("a client", 0, place -> {}))
                .isNull();
    }

    @Test
    void whyThereIsNoEndpointIsSaid() {
        health.drain(ENDPOINTS.get(0).toString(), true);
        health.onChecked(ENDPOINTS.get(1), "refused");
        assertThat(upstream.whyNoEndpoint())
                .isEqualTo("no endpoint of app may be used: 1 of 2 draining, 1 of 2 unhealthy");
        health.drain(ENDPOINTS.get(1).toString(), true);
        assertThat(upstream.whyNoEndpoint()).isEqualTo("no endpoint of app may be used: 2 of 2 draining");
        upstream.explainEmptiness(() -> "file:eps.yaml has an empty list");
        upstream.update(List.of());
        assertThat(upstream.whyNoEndpoint()).isEqualTo("app has no endpoints: file:eps.yaml has an empty list");
    }

    @Test
    void whatIsLeftWhenAnEndpointIsEjectedIsForTheOthers() {
        health.onUnanswered(ENDPOINTS.get(0), 0, 0);
        Host other = upstream.host(ENDPOINTS.get(1));
        assertThat(take(other.connections())).isEqualTo(4);
        assertThat(take(other.requests())).isEqualTo(6);
    }

    /** Of a hundred failures in a row that would eject it, this is none. */
    @Test
    void anEndpointThatDoesNotAnswerOnAConnectionIsEjectedAtOnce() {
        Health patient = new Health(
                ENDPOINTS,
                RoundRobin::new,
                new OutlierDetection(Counts.ABSENCE, 100, 1000, 1000, 1),
                null,
                System::nanoTime);
        List<String> ejected = new ArrayList<>();
        patient.tell(new HealthListener() {
            @Override
            public void onEjected(Endpoint endpoint, String why, long millis, int left) {
                ejected.add(endpoint + " " + why);
            }

            @Override
            public void onReturned(Endpoint endpoint) {}

            @Override
            public void onChecked(Endpoint endpoint, @Nullable String failure, int left) {}

            @Override
            public void onPanic(boolean panic, int left) {}
        });
        patient.onSilent(ENDPOINTS.get(1), 0, "no PING");
        assertThat(patient.report(ENDPOINTS.get(1)).state()).isEqualTo(Health.State.EJECTED);
        patient.onSilent(ENDPOINTS.get(1), 0, "no PING");
        patient.onSilent(ENDPOINTS.get(0), 0, "no PING"); // the last one stays
        assertThat(ejected).containsExactly("192.0.2.1:80 does not answer: no PING");
        patient.onAnsweredCheck(ENDPOINTS.get(1));
        assertThat(patient.report(ENDPOINTS.get(1)).state()).isEqualTo(Health.State.HEALTHY);
        health.onSilent(NAMED, 0, "no PING"); // is not counted
    }

    @Test
    void anUpstreamOfEndpointsOutOfServiceKeepsNothingForThem() {
        health.drain(ENDPOINTS.get(0).toString(), true);
        Upstream next = new Upstream("app", health, settings);
        assertThat(take(next.host(ENDPOINTS.get(1)).connections())).isEqualTo(4);
    }

    @Test
    void anEndpointThatDrainsHasItsShareAsLongAsItKeepsItsSessions() {
        List<String> told = new ArrayList<>();
        Host drained = upstream.host(ENDPOINTS.get(0));
        Host other = upstream.host(ENDPOINTS.get(1));
        health.onChoice(chosen -> told.add(chosen + ", " + drained.connections().hasRoom()));
        health.drainButSessions(drained.toString(), 1, HOUR_NANOS);
        assertThat(take(drained.connections())).isEqualTo(2);
        assertThat(take(drained.requests())).isEqualTo(3);
        assertThat(take(other.connections())).isEqualTo(2);
        assertThat(take(other.requests())).isEqualTo(3);
        health.endSessions(drained.toString(), 1);
        assertThat(take(other.connections()))
                .as("what the other has is not missing any more")
                .isEqualTo(2);
        assertThat(take(other.requests())).isEqualTo(3);
        assertThat(told)
                .as("the first choice, the drain, and the end of the sessions, each after the limits were divided")
                .containsExactly("[192.0.2.0:80, 192.0.2.1:80], true", "[192.0.2.1:80], true", "[192.0.2.1:80], true");
    }

    @Test
    void endpointsThatRequestsNameCountTogether() {
        UpstreamSettings few = UpstreamValues.builder().maxConnections(2).build();
        Upstream dialed = new Upstream("egress", List.of(), NamedByRequest.POLICY, few);
        Host host = dialed.host(NAMED);
        assertThat(dialed.host(new Endpoint(Endpoint.NAMED_INDEX, "b.example", 80, 1)))
                .isSameAs(host);
        assertThat(take(host.connections())).isEqualTo(2);
        assertThat(dialed.connections().taken()).isEqualTo(2);
        assertThat(host.requests().tryAcquire()).isTrue();
        assertThat(dialed.requests().taken()).isEqualTo(1);
        assertThat(dialed.endpoints()).isEmpty();
        assertThat(dialed.hosts()).isEmpty();
    }

    @Test
    void anEndpointOfAnotherGenerationIsNotTakenForTheOneInItsPlace() {
        assertThat(upstream.host(ENDPOINTS.get(1)).endpoint()).isEqualTo(ENDPOINTS.get(1));
        Host stranger = upstream.host(new Endpoint(1, "192.0.2.9", 80, 1));
        assertThat(upstream.hosts()).hasSize(2).doesNotContain(stranger);
        assertThat(upstream.host(new Endpoint(2, "192.0.2.2", 80, 1))).isSameAs(stranger);
        health.onUnanswered(new Endpoint(1, "192.0.2.9", 80, 1), 0, 0);
        assertThat(health.report(ENDPOINTS.get(1)).state()).isEqualTo(Health.State.HEALTHY);
    }

    @Test
    void whoAsksIsToldWhatItIsMadeOf() {
        assertThat(upstream).hasToString("app");
        assertThat(upstream.name()).isEqualTo("app");
        assertThat(upstream.settings()).isSameAs(settings);
        assertThat(upstream.health()).isSameAs(health);
        assertThat(upstream.endpoints()).isEqualTo(ENDPOINTS);
        assertThat(upstream.balancer()).isSameAs(health.balancer());
        assertThat(upstream.waiting().held()).isZero();
        Host host = upstream.hosts().get(0);
        assertThat(host).hasToString("192.0.2.0:80");
    }

    @Test
    void withoutAPolicyForItsHealthEveryEndpointStays() {
        Upstream plain = new Upstream("app", ENDPOINTS, RoundRobin::new, settings);
        for (int i = 0; i < 10; i++) {
            plain.health().onUnanswered(ENDPOINTS.get(0), 0, 0);
        }
        assertThat(plain.health().hasOther(ENDPOINTS.get(1))).isTrue();
        assertThat(plain.health().detectsOutliers()).isFalse();
    }
}
