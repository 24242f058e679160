package dev.gateway.observe.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.observe.metrics.ConnectionMeters.Count;
import dev.gateway.observe.metrics.state.ListenerFeatures;
import dev.gateway.stream.HandshakeFailure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.time.TimerWheel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What is counted of the connections of a listener, and how a scrape names it. */
class ConnectionMetersTest {
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final LoopMetrics loop = new LoopMetrics(new TimerWheel(channel.eventLoop()), () -> 3);
    private final ListenerMeters web = new ListenerMeters();

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private Map<String, Double> scrape() {
        return Samples.of(new MeterSource(List.of(loop, loop), () -> ListenerFeatures.NONE));
    }

    @Test
    void tasksThatWaitAreShownForEachEventLoop() {
        assertThat(scrape())
                .containsEntry("gateway_eventloop_pending_tasks{loop=\"0\"}", 3.0)
                .containsEntry("gateway_eventloop_pending_tasks{loop=\"1\"}", 3.0)
                .containsEntry("gateway_eventloop_lag_seconds{loop=\"0\"}", 0.0);
    }

    @Test
    void connectionsThatWereTurnedAwayAreCountedByWhatTurnedThemAway() {
        var meters = loop.listener("web");
        meters.onConnectionRefused();
        for (int i = 0; i < 2; i++) {
            meters.onConnectionDenied();
        }
        for (int i = 0; i < 3; i++) {
            meters.onConnectionShed();
        }
        for (int i = 0; i < 4; i++) {
            meters.onAcceptPaused();
        }
        for (int i = 0; i < 5; i++) {
            meters.onIdleClosed();
        }
        for (int i = 0; i < 6; i++) {
            meters.onSocketError();
        }
        meters.onSent(70);
        String of = "_total{listener=\"web\"}";
        assertThat(Samples.of(new MeterSource(List.of(loop), () -> ListenerFeatures.NONE)))
                .containsEntry("gateway_downstream_connections_refused" + of, 1.0)
                .containsEntry("gateway_downstream_connections_denied" + of, 2.0)
                .containsEntry("gateway_downstream_connections_shed" + of, 3.0)
                .containsEntry("gateway_downstream_accept_pauses" + of, 4.0)
                .containsEntry("gateway_downstream_idle_closed" + of, 5.0)
                .containsEntry("gateway_downstream_socket_errors" + of, 6.0)
                .containsEntry("gateway_downstream_sent_bytes_total{kind=\"http\",listener=\"web\"}", 70.0);
    }

    @ParameterizedTest
    @EnumSource(HandshakeFailure.class)
    void aHandshakeThatFailedIsCountedByItsReasonAlone(HandshakeFailure reason) {
        loop.listener("web").onHandshakeFailed(reason);
        Map<String, Double> samples = Samples.of(new MeterSource(List.of(loop), () -> ListenerFeatures.NONE));
        for (HandshakeFailure each : HandshakeFailure.values()) {
            assertThat(samples)
                    .containsEntry(
                            "gateway_downstream_handshakes_failed_total{listener=\"web\",reason=\"" + each.label()
                                    + "\"}",
                            each == reason ? 1.0 : 0.0);
        }
    }

    @Test
    void theReasonsOfFailedHandshakesAreTheseWords() {
        loop.listener("web");
        ListenerFeatures features = new ListenerFeatures(Set.of(), Set.of("web"));
        Set<String> reasons = new TreeSet<>();
        Samples.of(new MeterSource(List.of(loop), () -> features)).keySet().stream()
                .filter(name -> name.startsWith("gateway_downstream_handshakes_failed_total{listener=\"web\""))
                .forEach(name -> reasons.add(name.replaceAll(".*reason=\"|\".*", "")));
        assertThat(reasons)
                .containsExactly(
                        "application_protocol",
                        "certificate_refused",
                        "cipher",
                        "cleartext",
                        "client_certificate",
                        "closed",
                        "other",
                        "overload",
                        "protocol_version",
                        "server_name",
                        "timeout");
    }

    /** HTTP/1.0 and HTTP/1.1 are one protocol for operators. */
    @Test
    void bothVersionsOfHttp1AreOneProtocol() {
        web.onOpened(HttpVersion.HTTP_1_0, false);
        web.onOpened(HttpVersion.HTTP_1_1, false);
        web.onOpened(HttpVersion.TCP, true);
        web.onClosed(HttpVersion.HTTP_1_0, false);
        assertThat(web.opened(HttpVersion.HTTP_1_0, false)).isEqualTo(1);
        assertThat(web.active(HttpVersion.HTTP_1_0, false)).isZero();
        assertThat(web.active(HttpVersion.HTTP_1_1, false)).isEqualTo(1);
        assertThat(web.active(HttpVersion.HTTP_1_1, true)).isZero();
        assertThat(web.active(HttpVersion.TCP, true)).isEqualTo(1);
        assertThat(MeterSource.protocol(HttpVersion.HTTP_1_0)).isEqualTo("http1");
        assertThat(MeterSource.protocol(HttpVersion.HTTP_1_1)).isEqualTo("http1");
        assertThat(MeterSource.protocol(HttpVersion.HTTP_2)).isEqualTo("h2");
        assertThat(MeterSource.protocol(HttpVersion.TCP)).isEqualTo("tcp");
    }

    /** Types of RFC 9113, section 6; those that have no counter of their own are frames all the same. */
    @ParameterizedTest
    @CsvSource({
        "0, ",
        "1, ",
        "3, resets",
        "4, ",
        "6, pings",
        "7, goaways",
        "8, window_updates",
        "99, ",
    })
    void aFrameIsCountedByItsType(int type, String metric) {
        web.onFrameReceived(type, 100);
        web.onFrameSent(type, 4);
        web.onFrameSent(type, 4);
        Map<String, Double> samples = Samples.of(out -> Http2Source.add(out, "upstream", web));
        String received = "_total{direction=\"received\",side=\"upstream\"}";
        String sent = "_total{direction=\"sent\",side=\"upstream\"}";
        assertThat(samples)
                .containsEntry("gateway_h2_frames" + received, 1.0)
                .containsEntry("gateway_h2_frames" + sent, 2.0)
                .containsEntry("gateway_h2_frame_bytes" + received, 109.0) // with the header
                .containsEntry("gateway_h2_frame_bytes" + sent, 26.0);
        for (String each : List.of("resets", "pings", "goaways", "window_updates")) {
            assertThat(samples)
                    .containsEntry("gateway_h2_" + each + received, each.equals(metric) ? 1.0 : 0.0)
                    .containsEntry("gateway_h2_" + each + sent, each.equals(metric) ? 2.0 : 0.0);
        }
    }

    @Test
    void streamsAndFlushesAreCountedBySide() {
        for (int i = 0; i < 3; i++) {
            web.onStreamOpened();
        }
        web.onStreamClosed();
        web.onFlushed();
        web.onFlushed();
        assertThat(Samples.of(out -> Http2Source.add(out, "downstream", web)))
                .containsEntry("gateway_h2_streams_total{side=\"downstream\"}", 3.0)
                .containsEntry("gateway_h2_streams_active{side=\"downstream\"}", 2.0)
                .containsEntry("gateway_h2_flushes_total{side=\"downstream\"}", 2.0)
                .containsEntry("gateway_h2_flow_control_pauses_total{side=\"downstream\"}", 0.0);
    }

    @Test
    void violationsAreCountedByTheirKind() {
        web.onViolation("bad_chunk");
        web.onViolation("bad_chunk");
        web.onViolation("bad_host");
        assertThat(web.violations()).containsOnlyKeys("bad_chunk", "bad_host");
        assertThat(Objects.requireNonNull(web.violations().get("bad_chunk")).get(0))
                .isEqualTo(2);
        assertThat(web.get(Count.SOCKET_ERROR)).isZero();
    }
}
