package dev.gateway.runtime;

import dev.gateway.config.GatewayConfig;
import dev.gateway.config.file.HeadersFile;
import dev.gateway.config.observe.MetricsConfig;
import dev.gateway.config.observe.OtlpConfig;
import dev.gateway.config.observe.TracingConfig;
import dev.gateway.config.observe.TracingConfig.Mode;
import dev.gateway.config.value.ConfigEquality;
import dev.gateway.config.value.Position;
import dev.gateway.files.FileWatch;
import dev.gateway.files.StartException;
import dev.gateway.format.Durations;
import dev.gateway.observe.ExchangeObserver;
import dev.gateway.observe.RecordedExchanges;
import dev.gateway.observe.accesslog.LogAssembly;
import dev.gateway.observe.accesslog.Redaction;
import dev.gateway.observe.metrics.Metrics;
import dev.gateway.observe.otlp.Link;
import dev.gateway.observe.otlp.MetricExport;
import dev.gateway.observe.otlp.Receiver;
import dev.gateway.observe.otlp.SpanExport;
import dev.gateway.runtime.process.BuildInfo;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.UrlUpstream;
import dev.gateway.upstream.pool.Pools;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Telemetry exporters: exports spans and metrics while the active configuration wants that, and connects again when
 * the receiver's headers or certificates have changed. Used by one thread at a time; any thread may ask for the problem, and
 * whether something is exported.
 */
public final class Telemetry {
    private static final Logger log = LoggerFactory.getLogger(Telemetry.class);

    /** For each step of connecting. An export as a whole takes no longer than its timeout. */
    private static final long STEP_MILLIS = 5_000;

    private static final long IDLE_MILLIS = 30_000; // less than receivers and the balancers before them keep them

    private final Metrics metrics;
    private final Pools pools;
    private final String instance = UUID.randomUUID().toString();
    private final AtomicLong droppedSpans = new AtomicLong();
    private final MetricExport.Results results = new MetricExport.Results(new AtomicLong(), new AtomicLong());
    private final List<RecordedExchanges> loops = new ArrayList<>();
    private final List<TimerWheel> wheels = new ArrayList<>();
    private @Nullable Wanted activeConfig;
    private volatile Exports exports = new Exports(null, null, new FileWatch(List.of()), () -> {});
    private @Nullable Thread ending; // lets what was exported before send what it has left
    private volatile String problem = "";

    /**
     * Makes it; nothing is exported before a configuration wants that.
     *
     * @param pools makes connections to receivers
     */
    Telemetry(Metrics metrics, Pools pools) {
        this.metrics = metrics;
        this.pools = pools;
        metrics.addDroppedSpans(() -> exports.spans != null, droppedSpans::get);
        metrics.addExports(() -> exports.metrics != null, results.succeeded()::get, results.failed()::get);
    }

    /** What a configuration says of it. */
    private record Wanted(OtlpConfig otlp, TracingConfig tracing, MetricsConfig metrics, Redaction.Hidden hidden) {
        static Wanted of(GatewayConfig config) {
            return new Wanted(config.otlp(), config.tracing(), config.metrics(), LogAssembly.hidden(config));
        }

        boolean isSame(@Nullable Wanted other) {
            return other != null
                    && ConfigEquality.isSame(otlp, other.otlp)
                    && ConfigEquality.isSame(tracing, other.tracing)
                    && ConfigEquality.isSame(metrics, other.metrics)
                    && hidden.equals(other.hidden);
        }

        List<Path> files() {
            boolean exports = tracing.mode() == Mode.EXPORT || metrics.export() != null;
            return Stream.of(otlp.headersFile(), otlp.caFile())
                    .filter(file -> file != null && exports)
                    .toList();
        }
    }

    /**
     * What runs; null what does not.
     *
     * @param disconnect closes the connections to the receiver
     */
    private record Exports(
            @Nullable SpanExport spans, @Nullable MetricExport metrics, FileWatch files, Runnable disconnect) {
        private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(5);

        boolean isNone() {
            return spans == null && metrics == null;
        }

        /** Lets both send at the same time what they have left, for which they have five seconds. */
        void close() {
            long deadline = System.nanoTime() + CLOSE_NANOS;
            if (metrics != null) {
                metrics.end();
            }
            if (spans != null) {
                spans.end();
                spans.awaitEnd(deadline);
            }
            if (metrics != null) {
                metrics.awaitEnd(deadline);
            }
            disconnect.run();
        }
    }

    /** Returns the observer of another event loop. */
    ExchangeObserver newLoop(TimerWheel wheel) {
        RecordedExchanges loop = new RecordedExchanges(wheel.loop());
        loops.add(loop);
        wheels.add(wheel);
        return loop;
    }

    /** Returns why the receiver is sent what its former files said, or nothing. */
    public String problem() {
        return problem;
    }

    /** A change that has been prepared: it is made and finished, or cancelled. */
    final class Change {
        private final Wanted wanted;
        private final @Nullable Exports next; // null if nothing changes
        private final Exports former = exports;

        private Change(Wanted wanted, @Nullable Exports next) {
            this.wanted = wanted;
            this.next = next;
        }

        /** Makes it: what ends from now on is exported so. */
        void commit() {
            activeConfig = wanted;
            if (next == null) {
                return;
            }
            problem = "";
            exports = next;
            if (next.spans != null) {
                next.spans.start();
            }
            if (former.spans != null || next.spans != null) {
                observe(next.spans);
            }
            if (next.metrics != null) {
                MetricsConfig.Export wish = Objects.requireNonNull(wanted.metrics.export());
                next.metrics.start(Durations.millis(wish.interval()));
            }
        }

        /** Lets what was exported before send what it has left, and waits for no more than the change before this one. */
        void finish() {
            if (next != null && !former.isNone()) {
                awaitFormer();
                ending = new Thread(former::close, "otlp-end"); // receivers may hang, and a reload should not
                ending.setDaemon(true);
                ending.start();
            }
        }

        void cancel() {
            if (next != null) {
                next.close();
            }
        }
    }

    /**
     * Reads what a configuration's exports need.
     *
     * @throws StartException if it cannot be read, or is something else
     */
    Change prepare(GatewayConfig config) throws StartException {
        Wanted wanted = Wanted.of(config);
        boolean same = wanted.isSame(activeConfig) && !exports.files.hasChanged();
        return new Change(wanted, same ? null : exports(wanted));
    }

    /** Looks at the receiver's files, and takes what they say when they have changed and are written no more. */
    public void look() {
        if (activeConfig != null && exports.files.hasSettled()) {
            exports.files.reading();
            try {
                Change change = new Change(activeConfig, exports(activeConfig));
                change.commit();
                change.finish();
                log.info("Loaded new headers or certificates for the receiver of otlp");
            } catch (StartException e) {
                if (e.getCause() instanceof IOException) {
                    exports.files.unread();
                }
                String now = e.getMessage() + ": the gateway keeps what it read before";
                if (!now.equals(problem)) {
                    log.warn(now);
                }
                problem = now;
            }
        }
    }

    private Exports exports(Wanted wanted) throws StartException {
        FileWatch watch = new FileWatch(wanted.files());
        if (wanted.tracing.mode() != Mode.EXPORT && wanted.metrics.export() == null) {
            return new Exports(null, null, watch, () -> {});
        }
        Position position = wanted.otlp.position();
        Upstream upstream = upstream(wanted.otlp);
        try {
            pools.add(upstream);
        } catch (IOException
                | GeneralSecurityException
                | RuntimeException e) { // the file holds no certificates, or invalid ones
            throw StartException.at(position, e);
        }
        try {
            Receiver receiver = receiver(wanted.otlp, upstream);
            return new Exports(
                    wanted.tracing.mode() == Mode.EXPORT ? spans(wanted, receiver) : null,
                    wanted.metrics.export() == null ? null : new MetricExport(metrics::snapshots, receiver, results),
                    watch,
                    () -> pools.remove(upstream));
        } catch (IOException | RuntimeException e) {
            pools.remove(upstream);
            throw StartException.at(position, e);
        }
    }

    private static Upstream upstream(OtlpConfig otlp) {
        return UrlUpstream.of(
                "otlp:" + otlp.endpoint(),
                URI.create(otlp.endpoint()),
                otlp.caFile(),
                new UrlUpstream.Times(Math.min(STEP_MILLIS, Durations.millis(otlp.timeout())), IDLE_MILLIS));
    }

    private Receiver receiver(OtlpConfig otlp, Upstream upstream) throws IOException {
        Path headers = otlp.headersFile();
        return new Receiver(
                otlp.endpoint(),
                headers == null ? Map.of() : HeadersFile.read(headers),
                new Link(upstream, pools.opener(0), wheels.get(0)),
                Durations.millis(otlp.timeout()),
                new Receiver.Service(otlp.serviceName(), BuildInfo.version(), instance));
    }

    private SpanExport spans(Wanted wanted, Receiver receiver) {
        TracingConfig.Export batches = wanted.tracing.export();
        return new SpanExport(
                receiver,
                new SpanExport.Batches(
                        Durations.millis(batches.scheduleDelay()),
                        batches.maxQueueSize(),
                        batches.maxExportBatchSize()),
                new Redaction(wanted.hidden),
                droppedSpans);
    }

    private void observe(@Nullable SpanExport spans) {
        List<CompletableFuture<Void>> done = new ArrayList<>();
        for (int i = 0; i < loops.size(); i++) {
            RecordedExchanges loop = loops.get(i);
            ExchangeObserver observer = spans == null ? ExchangeObserver.NONE : spans.newLoop(wheels.get(i));
            done.add(CompletableFuture.runAsync(() -> loop.use(observer), loop.loop()));
        }
        CompletableFuture.allOf(done.toArray(CompletableFuture<?>[]::new)).join();
    }

    /** Waits for what was exported before the last change. */
    private void awaitFormer() {
        try {
            if (ending != null) {
                ending.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Sends what is left. To be called when no exchange runs any more, and before the event loops end. */
    void close() {
        if (exports.spans != null) {
            observe(null);
        }
        exports.close();
        awaitFormer();
    }
}
