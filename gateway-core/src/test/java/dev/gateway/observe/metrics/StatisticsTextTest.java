package dev.gateway.observe.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.NamedEndpoint;
import dev.gateway.observe.Records;
import dev.gateway.observe.metrics.state.UpstreamState;
import dev.gateway.observe.metrics.state.UpstreamState.EndpointState;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.time.TimerWheel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How the statistics page looks to people. */
class StatisticsTextTest {
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final LoopMetrics loop = new LoopMetrics(new TimerWheel(channel.eventLoop()), () -> 0);
    private final ProcessMeters process = new ProcessMeters("1.2.3");
    private final Statistics statistics = new Statistics(List.of(loop));

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private String page() {
        return new StatisticsText(statistics, process).write();
    }

    private void request(String route, int status, Cause... causes) {
        ExchangeRecord record = Records.record("/", status, causes.length == 0 ? null : causes[0]);
        record.route = route;
        loop.onBegun(record);
        loop.onCompleted(record);
    }

    @Test
    void aPageWithoutTrafficHasNoTables() {
        List<String> lines = page().lines().toList();
        assertThat(lines).element(1).isEqualTo("requests per second               0.0"); // names have 34 columns
        assertThat(lines)
                .startsWith("uptime seconds                    0")
                .contains(
                        "failed exchanges by cause",
                        "  none",
                        "further counters",
                        "handler errors                    0           requests that the gateway itself answered with 5xx",
                        "connections refused over limit    0           connections beyond limits.maxConnections",
                        "h2 pings sent                     0")
                .noneMatch(line -> line.contains("most failures first"));
    }

    @Test
    void causesAreSortedByHowOftenTheyCame() {
        for (int i = 0; i < 3; i++) {
            request("shop", 404, Cause.NO_ROUTE);
        }
        request("shop", 502, Cause.CONNECT_FAILED);
        assertThat(page())
                .contains(
                        """
                        failed exchanges by cause
                          no_route                        3
                          connect_failed                  1

                        """);
    }

    @Test
    void routesThatFailMostComeFirstThenThoseThatAreUsedMost() {
        request("quiet", 200);
        request("busy", 200);
        request("busy", 200);
        request("bad", 502, Cause.CONNECT_FAILED);
        request("", 404, Cause.NO_ROUTE);
        request("", 404, Cause.NO_ROUTE);
        List<String> lines = page().lines().toList();
        int head = lines.indexOf(lines.stream()
                .filter(line -> line.startsWith("routes, most failures first"))
                .findFirst()
                .orElseThrow());
        assertThat(lines.get(head)).isEqualTo("routes, most failures first         failed   requests    p99 now");
        assertThat(lines.subList(head + 1, head + 5))
                .extracting(
                        line -> line.replaceAll(" +[0-9.]+ ms *", " ? ").strip().replaceAll(" +", " "))
                .containsExactly(
                        "(no route) of web 2 2 ? most with no_route",
                        "bad of web 1 1 ? most with connect_failed",
                        "busy of web 0 2 ?",
                        "quiet of web 0 1 ?");
        assertThat(lines.get(head + 5)).isEmpty();
    }

    @Test
    void theTwentyWorstRoutesAreShownAndTheRestIsCounted() {
        for (int i = 10; i < 31; i++) {
            request("r" + i, 200);
        }
        assertThat(page())
                .contains("  r29 of web")
                .doesNotContain("  r30 of web")
                .contains("  and 1 more\n");
    }

    @Test
    void anUpstreamTellsWhichEndpointFailsMost() {
        List<EndpointState> endpoints = new ArrayList<>();
        for (String address : List.of("a:1", "b:1", "c:1")) {
            endpoints.add(new EndpointState(
                    endpoints.size(), address, 1, address.equals("c:1") ? "draining" : "healthy", 0, 0, 0, 0, 0));
        }
        process.upstreams = () ->
                List.of(new UpstreamState("app", "auto", endpoints), new UpstreamState("connect-1", "auto", List.of()));
        for (int i = 0; i < 3; i++) {
            ExchangeRecord record = Records.record("/", 200, null);
            record.endpoint = new NamedEndpoint(i == 0 ? "a:1" : "b:1");
            record.endpointIndex = i == 0 ? 0 : 1;
            record.endNanos = record.attemptNanos + 1_600_000_000L;
            loop.onAttemptBegun(record);
            loop.onAttemptEnded(record, 0, Failure.of(Cause.CONNECT_FAILED, "refused"), false);
        }
        assertThat(page().lines())
                .anyMatch(line -> line.matches(" {2}app +3 +3 +1\\.[5-7] s +2 of 3 healthy, most failures at b:1: 2"))
                .anyMatch(line -> line.matches(" {2}connect-1 +0 +0 +-"));
    }
}
