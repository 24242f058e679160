package dev.gateway.benchmarks;

import dev.gateway.config.observe.AccessLogConfig;
import dev.gateway.config.observe.AccessLogConfig.Choice;
import dev.gateway.config.observe.AccessLogConfig.Exchanges;
import dev.gateway.config.observe.AccessLogConfig.Format;
import dev.gateway.config.observe.AccessLogConfig.Lines;
import dev.gateway.config.observe.AccessLogConfig.Redact;
import dev.gateway.config.observe.AccessLogConfig.Target;
import dev.gateway.config.observe.TracingConfig;
import dev.gateway.config.observe.TracingConfig.Propagator;
import dev.gateway.config.value.Position;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.message.Method;
import dev.gateway.observe.ExchangeObserver;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.accesslog.AccessLog;
import dev.gateway.observe.accesslog.ReceiverAddresses;
import dev.gateway.observe.accesslog.Redaction;
import dev.gateway.observe.otlp.Link;
import dev.gateway.observe.otlp.Receiver;
import dev.gateway.observe.otlp.SpanExport;
import dev.gateway.observe.trace.TraceValues;
import dev.gateway.observe.trace.Traces;
import dev.gateway.stream.Cause;
import dev.gateway.stream.ConnectionInfo;
import dev.gateway.stream.Failure;
import dev.gateway.stream.HttpVersion;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.UpstreamValues;
import dev.gateway.upstream.stream.StreamOpener;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.AsciiString;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What an event loop spends on one request's line in the access log and on its trace; the log goes to /dev/null, and
 * spans to nobody. Both off is what the benchmark itself costs.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class RecordBenchmark {
    private static final Redaction NOTHING = new Redaction(Redaction.Hidden.NOTHING);
    private static final AsciiString AGENT =
            new AsciiString("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101");

    @Param({"off", "json", "combined"})
    String log = "off";

    @Param({"off", "propagate", "export"})
    String traces = "off";

    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final TimerWheel wheel = new TimerWheel(loop.eventLoop());
    private final AccessLog accessLog = new AccessLog(ReceiverAddresses.OF_MACHINE);
    private final Traces maker = new Traces();
    private final ConnectionInfo connection =
            new ConnectionInfo(0, "web", HttpVersion.HTTP_1_1, new InetSocketAddress("192.0.2.7", 5555), null, null);
    private final AsciiString authority = new AsciiString("shop.example.com");
    private final Endpoint endpoint = new Endpoint(0, "shop.example.com", 80, 1);
    private final AsciiString path = new AsciiString("/api/v1/orders/4711?expand=lines");
    private ExchangeObserver lines = ExchangeObserver.NONE;
    private ExchangeObserver spans = ExchangeObserver.NONE;
    private @Nullable TracingConfig settings;
    private @Nullable SpanExport export;

    @Setup
    public void start() throws IOException {
        lines = accessLog.newLoop(wheel);
        Format format =
                switch (log) {
                    case "json" -> Format.JSON;
                    case "combined" -> Format.COMBINED;
                    default -> Format.OFF;
                };
        AccessLog.Change change = accessLog.prepare(
                new AccessLogConfig(
                        Position.NOWHERE,
                        Lines.of(format),
                        new Target(Path.of("/dev/null"), null, null),
                        new Choice(Exchanges.ALL, 1.0),
                        new Redact(Position.NOWHERE, List.of(), List.of())),
                NOTHING,
                OutputStream.nullOutputStream());
        CompletableFuture<Void> done = CompletableFuture.runAsync(change::commit);
        while (!done.isDone()) {
            loop.runPendingTasks();
        }
        boolean records = traces.equals("export");
        if (!traces.equals("off")) {
            settings = TraceValues.of(records, List.of(Propagator.TRACE_CONTEXT), true, records ? 0.01 : 1);
        }
        if (records) {
            SpanExport made = new SpanExport(
                    new Receiver(
                            "http://127.0.0.1:9",
                            Map.of(),
                            nowhere(),
                            1_000,
                            new Receiver.Service("gateway", "dev", "benchmark")),
                    new SpanExport.Batches(5_000, 2048, 512),
                    NOTHING,
                    new AtomicLong());
            made.start();
            spans = made.newLoop(wheel);
            export = made;
        }
    }

    /** Returns the link to a receiver that does not exist. */
    private Link nowhere() {
        Upstream upstream = new Upstream(
                "otlp",
                List.of(new Endpoint(0, "127.0.0.1", 9, 1)),
                RoundRobin::new,
                UpstreamValues.builder().build());
        StreamOpener fails = (to, endpoint, kind, preamble, events, callback) -> {
            callback.onOpenFailed(Failure.of(Cause.CONNECT_FAILED, "it does not exist"));
            return StreamOpener.Opening.DONE;
        };
        return new Link(upstream, fails, wheel);
    }

    @TearDown
    public void stop() {
        accessLog.close();
        if (export != null) {
            export.end();
            export.awaitEnd(System.nanoTime());
        }
        loop.finishAndReleaseAll();
    }

    @Benchmark
    public ExchangeRecord request() {
        Fields fields = new Fields();
        fields.add(FieldName.USER_AGENT, AGENT);
        fields.add(FieldName.ACCEPT, "*/*");
        ExchangeRecord record = new ExchangeRecord(connection);
        record.method = Method.GET;
        record.scheme = connection.scheme();
        record.authority = authority;
        record.path = path;
        record.fields = fields;
        record.route = "shop";
        record.upstream = "app";
        record.endpoint = endpoint;
        record.attempts = 1;
        record.status = 200;
        record.startMillis = 1_700_000_000_000L;
        record.startNanos = record.attemptNanos = record.requestedNanos = 1_000;
        record.respondedNanos = 401_000;
        record.endNanos = 501_000;
        if (settings != null) {
            record.trace = maker.begin(fields, true, settings);
            maker.forward(fields, record.trace, settings);
            if (record.trace.isRecorded()) {
                maker.attempt(fields, record.trace, settings);
                spans.onAttemptBegun(record);
                spans.onAttemptEnded(record, 200, null, false);
                spans.onCompleted(record);
            }
        }
        lines.onCompleted(record);
        return record;
    }
}
