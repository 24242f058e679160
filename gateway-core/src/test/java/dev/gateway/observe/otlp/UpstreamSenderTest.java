package dev.gateway.observe.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.message.FieldName;
import dev.gateway.message.RequestHead;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.time.TimerWheel;
import io.netty.channel.embedded.EmbeddedChannel;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.metrics.export.MetricExporter;
import io.opentelemetry.sdk.trace.data.StatusData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How exporters of OpenTelemetry send by an upstream: with a receiver that the test plays and a clock that it moves. */
class UpstreamSenderTest {
    private static final long TIMEOUT = 10_000;
    private static final Failure REFUSED = Failure.of(Cause.CONNECT_FAILED, "connection refused");
    private static final Failure STALE =
            new Failure(Cause.UPSTREAM_RESET_BEFORE_HEADERS, 502, RetrySafety.ALWAYS, true, "closed while it was idle");

    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final PlayedReceiver server = new PlayedReceiver();
    private long now = 1;
    private final Receiver receiver = new Receiver(
            "http://collector.test:4318/prefix",
            Map.of("authorization", "Bearer a"),
            server.link(new TimerWheel(loop.eventLoop(), () -> now)),
            TIMEOUT,
            new Receiver.Service("gateway", "dev", "test"));
    private final SpanExporter spans = receiver.spans();
    private final MetricExporter metrics = receiver.metrics();

    @BeforeEach
    void freeze() {
        loop.freezeTime();
    }

    @AfterEach
    void nothingIsLeftBehind() {
        spans.shutdown();
        metrics.shutdown();
        loop.runPendingTasks();
        pass(2 * TIMEOUT);
        assertThat(server.asked).allSatisfy(each -> assertThat(each.isOver()).isTrue());
        assertThat(loop.runScheduledPendingTasks()).as("timers still armed").isEqualTo(-1);
        loop.finishAndReleaseAll();
    }

    private CompletableResultCode send() {
        CompletableResultCode sent = spans.export(List.of(new FinishedSpan(
                receiver.origin(),
                "GET",
                SpanKind.SERVER,
                SpanContext.getInvalid(),
                SpanContext.getInvalid(),
                new FinishedSpan.Times(0, 0, List.of()),
                Attributes.empty(),
                StatusData.unset())));
        loop.runPendingTasks();
        return sent;
    }

    private void pass(long millis) {
        for (long i = 0; i < millis; i += 10) {
            now += TimeUnit.MILLISECONDS.toNanos(10);
            loop.advanceTimeBy(10, TimeUnit.MILLISECONDS);
            loop.runScheduledPendingTasks();
        }
    }

    private static String why(CompletableResultCode sent) {
        assertThat(sent.isSuccess()).isFalse();
        return Delivery.message(sent.getFailureThrowable());
    }

    /** Returns a field of the last request. */
    private String field(FieldName name) {
        return String.valueOf(server.last().head().fields().first(name));
    }

    @Test
    void spansAreARequestOverTheUpstream() {
        CompletableResultCode sent = send();
        server.last().answer(200, "");
        assertThat(sent.isSuccess()).isTrue();
        RequestHead head = server.last().head();
        assertThat(head.path().toString()).isEqualTo("/prefix/v1/traces");
        assertThat(head.authority().toString()).isEqualTo("collector.test:4318");
        assertThat(head.contentLength()).isEqualTo(server.last().body().length);
        assertThat(field(FieldName.CONTENT_TYPE)).isEqualTo("application/x-protobuf");
        assertThat(field(FieldName.of("authorization"))).isEqualTo("Bearer a");
        assertThat(field(FieldName.USER_AGENT)).startsWith("OTel-OTLP-Exporter-Java");
        assertThat(new String(server.last().body(), StandardCharsets.ISO_8859_1))
                .contains("service.instance.id", "GET");
    }

    @Test
    void aConnectionThatTheReceiverHadClosedIsReplacedAtOnce() {
        CompletableResultCode sent = metrics.export(List.of());
        loop.runPendingTasks();
        for (int stale = 1; stale <= 2; stale++) {
            server.last().breakOff(STALE);
            assertThat(server.asked).hasSize(stale + 1);
        }
        server.last().breakOff(STALE);
        assertThat(server.asked).as("twice, or it could go on for ever").hasSize(3);
        assertThat(why(sent)).isEqualTo("upstream_reset_before_headers: closed while it was idle");
    }

    @ParameterizedTest
    @ValueSource(ints = {429, 502, 503, 504})
    void whatTheReceiverWantsLaterIsSentAgain(int status) {
        CompletableResultCode sent = send();
        server.last().answer(status, "later");
        assertThat(server.asked).as("not at once").hasSize(1);
        pass(2_000);
        assertThat(server.asked).hasSize(2);
        server.last().answer(200, "");
        assertThat(sent.isSuccess()).isTrue();
    }

    @Test
    void aReceiverThatIsAwayIsTriedAgainUntilTheTimeIsOver() {
        CompletableResultCode sent = send();
        for (int asked = 1; !sent.isDone(); asked = server.asked.size()) {
            server.last().failToOpen(REFUSED);
            while (!sent.isDone() && server.asked.size() == asked) {
                pass(10);
            }
        }
        assertThat(server.asked).hasSizeGreaterThan(2);
        assertThat(why(sent)).isEqualTo("connect_failed: connection refused");
    }

    @Test
    void aReceiverThatSaysNothingHasTheTimeOfTheExport() {
        CompletableResultCode sent = send();
        server.last().opened();
        pass(TIMEOUT + 100);
        assertThat(sent.isDone()).isTrue();
        assertThat(why(sent)).isEqualTo("no complete answer in 10000 ms");
        assertThat(server.asked).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 401, 404, 500})
    void whatTheReceiverDoesNotTakeIsNotSentAgain(int status) {
        CompletableResultCode sent = send();
        server.last().answer(status, "no");
        assertThat(sent.isDone()).isTrue();
        assertThat(why(sent)).isEqualTo("answered " + status);
        assertThat(server.asked).hasSize(1);
    }

    @Test
    void metricsAreNotSentAgain() {
        CompletableResultCode sent = metrics.export(List.of());
        loop.runPendingTasks();
        assertThat(server.last().isOver()).isFalse();
        server.last().answer(503, "");
        assertThat(sent.isDone()).isTrue();
        assertThat(field(FieldName.CONTENT_ENCODING)).isEqualTo("gzip");
    }

    @Test
    void whatIsBeingSentEndsWithTheExporter() {
        CompletableResultCode waiting = send();
        CompletableResultCode opened = send();
        server.last().opened();
        spans.shutdown();
        loop.runPendingTasks();
        assertThat(List.of(waiting, opened)).allSatisfy(each -> {
            assertThat(each.isDone()).isTrue();
            assertThat(each.isSuccess()).isFalse();
        });
    }
}
