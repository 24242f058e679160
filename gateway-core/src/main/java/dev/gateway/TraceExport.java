package dev.gateway;

import dev.gateway.config.AccessLogConfig;
import dev.gateway.config.GatewayConfig;
import dev.gateway.config.Meaning;
import dev.gateway.config.TracingConfig;
import dev.gateway.config.TracingConfig.Mode;
import dev.gateway.observe.ExchangeObserver;
import dev.gateway.observe.RecordedExchanges;
import dev.gateway.observe.Redaction;
import dev.gateway.otlp.SpanExport;
import dev.gateway.otlp.SpanExportSettings;
import dev.gateway.time.TimerWheel;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Exports spans while the configuration in force wants that. Used by one thread at a time. */
final class TraceExport {
    private final AtomicLong dropped = new AtomicLong();
    private final List<RecordedExchanges> loops = new ArrayList<>();
    private final List<TimerWheel> wheels = new ArrayList<>();
    private @Nullable TracingConfig config; // what is in force
    private AccessLogConfig.@Nullable Redact redact; // the same
    private @Nullable SpanExport export; // null while nothing is exported

    /** Returns the observer of another event loop. */
    ExchangeObserver newLoop(TimerWheel wheel) {
        RecordedExchanges loop = new RecordedExchanges(wheel.loop());
        loops.add(loop);
        wheels.add(wheel);
        return loop;
    }

    /** Returns how many spans were lost. */
    long dropped() {
        return dropped.get();
    }

    /**
     * Reads what a configuration's export needs.
     *
     * @return what lets it take over, once
     * @throws StartException if it cannot be read
     */
    Runnable prepare(GatewayConfig wanted) throws StartException {
        TracingConfig tracing = wanted.tracing();
        AccessLogConfig.Redact hidden = wanted.accessLog().redact();
        if (Meaning.isSame(tracing, config) && Meaning.isSame(hidden, redact)) {
            return () -> {};
        }
        SpanExportSettings settings = tracing.mode() == Mode.EXPORT ? settings(tracing, hidden) : null;
        return () -> {
            config = tracing;
            redact = hidden;
            use(settings == null ? null : new SpanExport(settings, dropped));
        };
    }

    private void use(@Nullable SpanExport next) {
        SpanExport former = export;
        export = next;
        if (former == null && next == null) {
            return;
        }
        List<CompletableFuture<Void>> done = new ArrayList<>();
        for (int i = 0; i < loops.size(); i++) {
            RecordedExchanges loop = loops.get(i);
            ExchangeObserver observer = next == null ? ExchangeObserver.NONE : next.newLoop(wheels.get(i));
            done.add(CompletableFuture.runAsync(() -> loop.use(observer), loop.loop()));
        }
        CompletableFuture.allOf(done.toArray(CompletableFuture<?>[]::new)).join();
        if (former != null) {
            former.close();
        }
    }

    private static SpanExportSettings settings(TracingConfig tracing, AccessLogConfig.Redact redact)
            throws StartException {
        TracingConfig.Export wanted = tracing.export();
        try {
            return new SpanExportSettings(
                    wanted.endpoint(),
                    headers(wanted.headersFile()),
                    new SpanExportSettings.Service(wanted.serviceName(), Gateway.version()),
                    new SpanExportSettings.Batches(
                            Assembly.millis(wanted.timeout()),
                            Assembly.millis(wanted.scheduleDelay()),
                            wanted.maxQueueSize(),
                            wanted.maxExportBatchSize()),
                    new Redaction(LogAssembly.redacted(redact)));
        } catch (IOException e) {
            throw Assembly.failure(wanted.position(), e);
        }
    }

    private static Map<String, String> headers(@Nullable Path file) throws IOException {
        Map<String, String> headers = new LinkedHashMap<>();
        if (file != null) {
            for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
                int colon = line.indexOf(':');
                if (colon > 0) {
                    headers.put(
                            line.substring(0, colon).strip(),
                            line.substring(colon + 1).strip());
                } else if (!line.isBlank()) {
                    throw new IOException(
                            file + " has a line that is not 'name: value'"); // not shown: it may be a secret
                }
            }
        }
        return headers;
    }

    /** Sends what is left. To be called when the event loops have ended. */
    void close() {
        if (export != null) {
            Objects.requireNonNull(export).close();
        }
    }
}
