package dev.gateway.observe.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.config.observe.TracingConfig;
import dev.gateway.config.observe.TracingConfig.Propagator;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.NamedEndpoint;
import dev.gateway.observe.OtherAttempt;
import dev.gateway.observe.Records;
import dev.gateway.observe.accesslog.Redaction;
import dev.gateway.observe.trace.Trace;
import dev.gateway.observe.trace.TraceValues;
import dev.gateway.observe.trace.Traces;
import dev.gateway.time.TimerWheel;
import io.netty.channel.embedded.EmbeddedChannel;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What spans say of attempts. */
class LoopSpansTest {
    private static final TracingConfig SETTINGS = TraceValues.of(true, List.of(Propagator.TRACE_CONTEXT), true, 1.0);
    private static final Receiver RECEIVER = new Receiver(
            "http://127.0.0.1:9",
            Map.of(),
            PlayedReceiver.link(),
            60_000,
            new Receiver.Service("gateway", "dev", "test"));

    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final List<SpanData> exported = new ArrayList<>();
    private final Traces traces = new Traces();
    private final LoopSpans spans = new LoopSpans(
            exported::add,
            RECEIVER.origin(),
            new Redaction(Redaction.Hidden.NOTHING),
            new TimerWheel(loop.eventLoop()));

    @AfterEach
    void close() {
        loop.finishAndReleaseAll();
    }

    private String begin(ExchangeRecord record, Trace trace) {
        traces.attempt(null, trace, SETTINGS);
        spans.onAttemptBegun(record);
        return SpanId.fromLong(trace.attempt());
    }

    @Test
    void twoAttemptsAtTheSameTimeHaveASpanEach() {
        ExchangeRecord record = Records.record("/", 200, null);
        Trace trace = traces.begin(null, false, SETTINGS);
        record.trace = trace;
        String first = begin(record, trace);
        OtherAttempt other = new OtherAttempt();
        record.attempts = 2;
        other.swap(record);
        record.endpoint = new NamedEndpoint("other.test:9000");
        record.attemptNanos = 500_000;
        String second = begin(record, trace);
        other.swap(record);
        spans.onAttemptEnded(record, 0, null, true);
        other.swap(record);
        spans.onAttemptEnded(record, 200, null, false);
        spans.onCompleted(record);
        assertThat(exported)
                .extracting(SpanData::getSpanId)
                .startsWith(first, second)
                .hasSize(3);
        assertThat(exported)
                .extracting(span -> span.getAttributes().get(HttpKeys.SERVER_ADDRESS))
                .startsWith("app.test", "other.test");
        assertThat(exported)
                .extracting(span -> span.getAttributes().get(HttpKeys.RESEND_COUNT))
                .startsWith(null, 1L);
        assertThat(exported.get(0).getParentSpanId()).isEqualTo(exported.get(2).getSpanId());
        assertThat(exported.get(1).getParentSpanId()).isEqualTo(exported.get(2).getSpanId());
    }
}
