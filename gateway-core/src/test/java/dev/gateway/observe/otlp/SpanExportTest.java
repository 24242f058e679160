package dev.gateway.observe.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gateway.observe.accesslog.Redaction;
import dev.gateway.testing.LoggedLines;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of spans whose exporter does what it likes. */
class SpanExportTest {
    private static final long PATIENCE_SECONDS = 20;
    private static final Receiver RECEIVER = new Receiver(
            "http://127.0.0.1:9",
            Map.of(),
            PlayedReceiver.link(),
            60_000,
            new Receiver.Service("gateway", "dev", "test"));

    private final AtomicLong dropped = new AtomicLong();
    private final BlockingQueue<String> sent = new LinkedBlockingQueue<>();

    /** Takes spans and never says what has become of them. */
    private final class Hanging implements SpanExporter {
        @Override
        public CompletableResultCode export(Collection<SpanData> spans) {
            spans.forEach(span -> sent.add(span.getName()));
            return new CompletableResultCode();
        }

        @Override
        public CompletableResultCode flush() {
            return CompletableResultCode.ofSuccess();
        }

        @Override
        public CompletableResultCode shutdown() {
            return CompletableResultCode.ofSuccess();
        }
    }

    /** Throws what spans are named after, if that is thrown, and takes all else. */
    private final class Fickle implements SpanExporter {
        @Override
        public CompletableResultCode export(Collection<SpanData> spans) {
            for (SpanData span : spans) {
                switch (span.getName()) {
                    case "exception" -> throw new IllegalStateException("made by the test");
                    case "linkage" -> throw new NoClassDefFoundError("made by the test");
                    case "threads" -> throw new OutOfMemoryError("unable to create native thread");
                    default -> sent.add(span.getName());
                }
            }
            return CompletableResultCode.ofSuccess();
        }

        @Override
        public CompletableResultCode flush() {
            return CompletableResultCode.ofSuccess();
        }

        @Override
        public CompletableResultCode shutdown() {
            return CompletableResultCode.ofSuccess();
        }
    }

    private SpanExport export(SpanExporter exporter) {
        Redaction redaction = new Redaction(Redaction.Hidden.NOTHING);
        return new SpanExport(RECEIVER, new SpanExport.Batches(0, 16, 1), redaction, dropped, exporter);
    }

    private static SpanData span(String name) {
        return new FinishedSpan(
                RECEIVER.origin(),
                name,
                SpanKind.SERVER,
                SpanContext.getInvalid(),
                SpanContext.getInvalid(),
                new FinishedSpan.Times(0, 0, List.of()),
                Attributes.empty(),
                StatusData.unset());
    }

    private static void end(SpanExport export) {
        export.end();
        export.awaitEnd(System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS));
    }

    @ParameterizedTest
    @ValueSource(strings = {"exception", "linkage", "threads"})
    void whatAnExporterThrowsCostsOneBatch(String thrown) throws InterruptedException {
        SpanExport export = export(new Fickle());
        export.start();
        export.offer(span(thrown));
        export.offer(span("next"));
        assertThat(sent.poll(PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo("next");
        assertThat(dropped).hasValue(1);
        end(export);
    }

    @Test
    void whatIsLeftIsSentAtTheEnd() {
        SpanExport export = export(new Fickle());
        export.offer(span("a"));
        export.offer(span("b"));
        export.start();
        end(export);
        assertThat(sent).containsExactly("a", "b");
        assertThat(dropped).hasValue(0);
    }

    @Test
    void whatHangsIsCutOffAtTheEndWithAllThatWaitsForItAndIsCounted() throws InterruptedException {
        List<String> messages;
        try (LoggedLines log = LoggedLines.of(Delivery.class)) {
            SpanExport export = export(new Hanging());
            export.offer(span("a"));
            export.offer(span("b"));
            export.offer(span("c"));
            export.start();
            assertThat(sent.poll(PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo("a");
            export.end();
            export.awaitEnd(System.nanoTime());
            messages = log.messages();
        }
        assertThat(dropped).hasValue(3);
        assertThat(sent).isEmpty();
        assertThat(messages)
                .containsExactly("Cannot send spans to http://127.0.0.1:9 (lost so far: 1): "
                        + "no answer before the time for what was left was over");
    }

    @Test
    void whatFindsTheQueueFullIsCounted() {
        SpanExport export = export(new Fickle());
        for (int i = 0; i < 20; i++) {
            export.offer(span("x"));
        }
        assertThat(dropped).hasValue(4);
        export.start();
        end(export);
        assertThat(sent).hasSize(16);
    }
}
