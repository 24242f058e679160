package dev.gateway.observe.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.NamedEndpoint;
import dev.gateway.observe.Records;
import dev.gateway.observe.metrics.state.CertificateExpiry;
import dev.gateway.observe.metrics.state.UpstreamState;
import dev.gateway.observe.metrics.state.UpstreamState.EndpointState;
import dev.gateway.observe.metrics.state.UpstreamState.Source;
import dev.gateway.stream.Cause;
import dev.gateway.time.TimerWheel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What an operator is told to look at. */
class AttentionTest {
    private static final long DAY = 86_400;

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final List<LoopMetrics> loops = new ArrayList<>();
    private final LoopMetrics loop = new LoopMetrics(new TimerWheel(channel.eventLoop()), () -> 0);
    private final ProcessMeters process = new ProcessMeters("1.2.3");
    private final Attention attention = new Attention(new Statistics(loops), process);

    AttentionTest() {
        loops.add(loop);
        loops.add(new LoopMetrics(new TimerWheel(channel.eventLoop()), () -> 0));
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private List<String> lines() {
        return attention.findings().stream()
                .map(each -> each.level().label() + ": " + each.text())
                .toList();
    }

    private void seconds(int number) {
        for (int i = 0; i < number; i++) {
            attention.sample();
        }
    }

    private static EndpointState endpoint(String address, String state) {
        return new EndpointState(0, address, 1, state, 0, 0, 0, 0, 0);
    }

    private static UpstreamState upstream(String name, String... states) {
        List<EndpointState> endpoints = IntStream.range(0, states.length)
                .mapToObj(i -> endpoint("10.0.0." + i + ":80", states[i]))
                .toList();
        return new UpstreamState(name, "auto", endpoints, List.of(), false, null, false, Set.of());
    }

    private void upstreams(UpstreamState... states) {
        process.upstreams = () -> List.of(states);
    }

    private void request(int status, @Nullable Cause cause, String address) {
        ExchangeRecord record = Records.record("/", status, cause);
        record.endpoint = new NamedEndpoint(address);
        record.endpointIndex = 0;
        loop.onBegun(record);
        loop.onAttemptBegun(record);
        loop.onAttemptEnded(record, status, null, false);
        loop.onCompleted(record);
    }

    @Test
    void nothingIsWrongWithAGatewayThatIsWell() {
        upstreams(upstream("app", "healthy", "draining"), new UpstreamState("connect", "auto", List.of()));
        process.certificates = () -> List.of(certificate("web", "a.test", 22));
        request(200, null, "10.0.0.0:80");
        request(404, Cause.NO_ROUTE, "10.0.0.0:80");
        assertThat(lines()).isEmpty();
    }

    @Test
    void aRefusedReloadAndUnreadableFilesAreTold() {
        process.lastReloadFailed = true;
        process.faultyAccountFiles = () -> 2;
        assertThat(lines())
                .containsExactly(
                        "bad: The last reload was refused; the log and /ready say why.",
                        "bad: 2 files of users, tokens, groups or filters cannot be read as written; /ready says why.");
    }

    // ---- upstreams

    @Test
    void theThreeWorstUpstreamsAreNamedAndTheRestCounted() {
        upstreams(
                upstream("half", "ejected", "healthy"),
                upstream("dead0", "unreachable"),
                upstream("dead1", "unreachable"),
                upstream("dead2", "unreachable"),
                upstream("dead3", "unreachable"));
        assertThat(lines())
                .containsExactly(
                        "bad: Upstream dead0: 1 of 1 endpoint not healthy.",
                        "bad: Upstream dead1: 1 of 1 endpoint not healthy.",
                        "bad: Upstream dead2: 1 of 1 endpoint not healthy.",
                        "warn: 2 more upstreams have endpoints that are not healthy.");
    }

    /** One that drains is wanted; all that drain leave nobody to answer. */
    @ParameterizedTest
    @CsvSource({
        "draining draining,'bad: Upstream app: all 2 endpoints drain, so requests get 503.'",
        "draining,'bad: Upstream app: its endpoint drains, so requests get 503.'",
        "draining ejected,bad: Upstream app: 2 of 2 endpoints not healthy.",
        "draining ejected healthy,warn: Upstream app: 1 of 3 endpoints not healthy."
    })
    void anUpstreamThatNobodyServesIsTold(String states, String line) {
        upstreams(upstream("app", states.split(" ")));
        assertThat(lines()).containsExactly(line);
    }

    @Test
    void anUpstreamWithoutEndpointsIsTold() {
        upstreams(upstream("app"));
        assertThat(lines()).containsExactly("bad: Upstream app has no endpoints, so requests get 503.");
    }

    @Test
    void panicModeAndStaleSourcesAreTold() {
        upstreams(IntStream.range(0, 5)
                .mapToObj(i -> new UpstreamState(
                        "u" + i,
                        "auto",
                        List.of(endpoint("10.0.0.1:80", "healthy")),
                        List.of(new Source("dns:" + i + ".test", "dns", "stale", "no answer")),
                        i == 0,
                        null,
                        false,
                        Set.of()))
                .toArray(UpstreamState[]::new));
        assertThat(lines())
                .containsExactly(
                        "bad: Upstream u0: too few endpoints are in service, so all get requests (panic mode).",
                        "warn: Upstream u0: dns:0.test fails, so its endpoints may be out of date: no answer",
                        "warn: Upstream u1: dns:1.test fails, so its endpoints may be out of date: no answer",
                        "warn: Upstream u2: dns:2.test fails, so its endpoints may be out of date: no answer",
                        "warn: 2 more sources of endpoints fail.");
    }

    @Test
    void anEndpointWhoseEveryRequestFailsIsNotHealthyWithoutAWord() {
        upstreams(upstream("app", "healthy"));
        String line = "bad: Upstream app: every request to 10.0.0.0:80 fails, although it counts as healthy.";
        request(200, null, "10.0.0.0:80");
        request(500, null, "10.0.0.0:80");
        request(500, null, "10.0.0.0:80");
        assertThat(lines()).as("one has succeeded").isEmpty();
        seconds(6);
        request(500, null, "10.0.0.0:80");
        assertThat(lines()).as("one failure may be a chance").isEmpty();
        assertThat(lines())
                .as("the last seconds begin with one that has succeeded")
                .isEmpty();
        seconds(5);
        request(500, null, "10.0.0.0:80");
        request(500, null, "10.0.0.0:80");
        assertThat(lines()).containsExactly(line);
        upstreams(upstream("app", "ejected"));
        assertThat(lines()).containsExactly("bad: Upstream app: 1 of 1 endpoint not healthy.");
    }

    @Test
    void aFullQueueIsToldAsLongAsItOverflows() {
        upstreams(upstream("app", "healthy"));
        loop.upstream("app").onPendingOverflow();
        assertThat(lines()).containsExactly("bad: Upstream app: the queue of requests that wait is full.");
        seconds(5);
        assertThat(lines()).hasSize(1);
        seconds(1);
        assertThat(lines()).as("more than five seconds later").isEmpty();
    }

    // ---- routes

    @Test
    void aRouteIsTroubledIfOneRequestInTwentyFails() {
        request(502, Cause.CONNECT_FAILED, "10.0.0.0:80");
        assertThat(lines()).as("one may be a chance").isEmpty();
        for (int i = 0; i < 4; i++) {
            request(504, Cause.UPSTREAM_TIMEOUT, "10.0.0.0:80");
        }
        for (int i = 0; i < 95; i++) {
            request(200, null, "10.0.0.0:80");
        }
        assertThat(lines()).containsExactly("bad: Route shop: 5 % of requests fail, most with upstream_timeout.");
        request(200, null, "10.0.0.0:80");
        assertThat(lines()).isEmpty();
    }

    @Test
    void whatHappenedEarlierDoesNotCount() {
        request(502, Cause.CONNECT_FAILED, "10.0.0.0:80");
        request(502, Cause.CONNECT_FAILED, "10.0.0.0:80");
        assertThat(lines()).hasSize(1);
        seconds(11);
        request(200, null, "10.0.0.0:80");
        assertThat(lines()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CLIENT_CLOSED",
                "CLIENT_TIMEOUT",
                "POLICY_HOST",
                "PROXY_AUTH",
                "AUTHZ_DENIED",
                "RATE_LIMITED",
                "NO_ROUTE",
                "BODY_TOO_LARGE",
                "MAX_DURATION",
                "IDLE_TIMEOUT",
                "ADMIN_CLOSED"
            })
    void whatClientsBringAboutIsNoTrouble(Cause cause) {
        request(400, cause, "10.0.0.0:80");
        request(400, cause, "10.0.0.0:80");
        assertThat(lines()).isEmpty();
    }

    // ---- certificates

    private static CertificateExpiry certificate(String owner, String name, int days) {
        return new CertificateExpiry("listener", owner, name, System.currentTimeMillis() / 1000 + days * DAY + DAY / 2);
    }

    @Test
    void certificatesThatEndSoonAreTold() {
        process.certificates = () -> List.of(
                certificate("web", "soon", 20),
                certificate("web", "later", 21),
                certificate("web", "sooner", 1),
                certificate("app", "gone", -1),
                certificate("app", "gone", 100));
        assertThat(lines())
                .containsExactly(
                        "bad: The certificate of gone (app) has expired.",
                        "bad: The certificate of sooner (web) ends in 1 day.",
                        "warn: The certificate of soon (web) ends in 20 days.");
        process.certificates = () -> IntStream.range(0, 4)
                .mapToObj(i -> certificate("l" + i, "a", 0))
                .toList();
        assertThat(lines()).hasSize(4).last().isEqualTo("warn: 1 more certificates end soon or have expired.");
    }
}
