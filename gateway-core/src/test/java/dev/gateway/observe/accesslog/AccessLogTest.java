package dev.gateway.observe.accesslog;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.gateway.config.observe.AccessLogConfig;
import dev.gateway.config.observe.AccessLogConfig.Choice;
import dev.gateway.config.observe.AccessLogConfig.Exchanges;
import dev.gateway.config.observe.AccessLogConfig.Format;
import dev.gateway.config.observe.AccessLogConfig.Lines;
import dev.gateway.config.observe.AccessLogConfig.Redact;
import dev.gateway.config.observe.AccessLogConfig.Target;
import dev.gateway.config.observe.AccessLogTemplate;
import dev.gateway.config.observe.AccessLogTemplate.Field;
import dev.gateway.config.observe.AccessLogTemplate.Literal;
import dev.gateway.config.observe.AccessLogTemplate.Part;
import dev.gateway.config.value.Position;
import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import dev.gateway.observe.ExchangeObserver;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.observe.LogPolicy;
import dev.gateway.observe.NamedEndpoint;
import dev.gateway.observe.Records;
import dev.gateway.observe.accesslog.Redaction.Hidden;
import dev.gateway.stream.Cause;
import dev.gateway.stream.DialedPeer;
import dev.gateway.stream.Failure;
import dev.gateway.testing.LoggedLines;
import dev.gateway.time.TimerWheel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Lines of the access log, and what happens when nobody can write them. */
class AccessLogTest {
    /** A flat JSON object of strings and numbers, in ASCII, by the letter of RFC 8259. */
    private static final Pattern JSON_LINE = Pattern.compile(
            "\\{(\"[a-zA-Z]+\":(\"([ !#-\\[\\]-~]|\\\\[\"\\\\]|\\\\u[0-9a-f]{4})*\"|-?\\d+)(,(?=\")|(?=})))+}");

    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();
    private final TimerWheel wheel = new TimerWheel(loop.eventLoop());

    @BeforeEach
    void freezeTime() {
        loop.freezeTime();
    }

    @AfterEach
    void closeLoop() {
        loop.finishAndReleaseAll();
    }

    private static final Lines JSON = Lines.of(Format.JSON);
    private static final Lines COMBINED = Lines.of(Format.COMBINED);

    private final AtomicLong dropped = new AtomicLong();

    /** A loop's part of the log, and the thread that writes. */
    private record Log(LoopAccessLog loop, LogWriter writer) implements AutoCloseable {
        @Override
        public void close() {
            loop.handOver();
            writer.close();
        }
    }

    /** How lines look, and of what there are any. */
    private record Settings(Lines lines, LogPolicy policy, Hidden hidden) {
        AccessLogConfig config() {
            return new AccessLogConfig(
                    Position.NOWHERE,
                    lines,
                    new Target(null, null, null),
                    new Choice(policy.exchanges(), policy.sample()),
                    new Redact(Position.NOWHERE, List.of(), List.of()));
        }
    }

    private static Settings settings(Lines format) {
        return settings(format, LogPolicy.ALL);
    }

    private static Settings settings(Lines format, LogPolicy policy) {
        Hidden hidden = new Hidden(Set.of("token", "Api Key"), Set.of(FieldName.of("X-Secret")));
        return new Settings(format, policy, hidden);
    }

    private Log log(Settings settings, LogDestination destination, int queuedBatches) {
        LogWriter writer = new LogWriter(destination, new LogWriter.Limits(queuedBatches, 5_000), dropped);
        LoopAccessLog loop = new LoopAccessLog(wheel);
        loop.use(settings.config(), new Redaction(settings.hidden), writer);
        return new Log(loop, writer);
    }

    private Log log(Lines format) {
        return log(settings(format), new StreamDestination(written), 4);
    }

    private String line(Lines format, ExchangeRecord record) {
        return line(settings(format), record);
    }

    private String line(Settings settings, ExchangeRecord record) {
        try (Log log = log(settings, new StreamDestination(written), 4)) {
            log.loop.onCompleted(record);
        }
        return written.toString(StandardCharsets.ISO_8859_1);
    }

    /** A template of text and fields in braces, as simple as tests need it. */
    private static Lines template(String text) {
        List<Part> parts = new ArrayList<>();
        Matcher matcher = Pattern.compile("\\{(\\w+)(?::([\\w-]+))?}|[^{]+").matcher(text);
        while (matcher.find()) {
            String name = matcher.group(1);
            parts.add(
                    name == null
                            ? new Literal(matcher.group())
                            : new Field(name, matcher.group(2) == null ? "" : matcher.group(2)));
        }
        return new Lines(Format.TEMPLATE, new AccessLogTemplate(text, parts), List.of(), List.of(), null);
    }

    @Test
    void aLineOfJsonTellsWhatHappened() throws IOException {
        ExchangeRecord record = Records.record("/a?b=c", 502, Cause.CONNECT_FAILED);
        Records.userAgent(record, "curl/8");
        assertThat(line(JSON, record))
                .isEqualTo(
                        "{\"time\":\"2023-11-14T22:13:20.123Z\",\"listener\":\"web\",\"client\":\"192.0.2.7\",\"peer\":\"192.0.2.7\","
                                + "\"method\":\"GET\",\"scheme\":\"http\",\"authority\":\"shop.example.com\","
                                + "\"path\":\"/a?b=c\",\"protocol\":\"HTTP/1.1\",\"status\":502,\"cause\":\"connect_failed\",\"detail\":\"made"
                                + " by the"
                                + " test\",\"route\":\"shop\",\"upstream\":\"app\",\"endpoint\":\"app.test:9000\",\"attempts\":1,\"generation\":7,\"receivedBytes\":0,\"sentBytes\":42,\"durationMicros\":3000,\"pendingMicros\":1,\"connectMicros\":1,\"responseMicros\":1000,\"bodyMicros\":1998,\"userAgent\":\"curl/8\"}\n");
    }

    @Test
    void aTunnelHasALineWhenItOpensWhileItLastsAndWhenItEnds() throws IOException {
        ExchangeRecord record = Records.tunnel(Kind.TUNNEL, 200, null);
        record.identity = "ci";
        record.hop = new DialedPeer("192.0.2.9:3128", "https://proxy.test:3128");
        record.endNanos = 0;
        record.endedBy = null;
        record.sentBytes = 0;
        record.receivedBytes = 0;
        record.reportedNanos = record.openedNanos;
        Log log = log(JSON);
        ExchangeObserver observer = log.loop;
        observer.onTunnelOpened(record);
        record.receivedBytes = 7;
        record.sentBytes = 42;
        record.reportedNanos = 2_001_000;
        observer.onTunnelProgress(record);
        record.endNanos = 3_001_000;
        record.endedBy = ExchangeRecord.Side.UPSTREAM;
        observer.onCompleted(record);
        log.close();
        String begin = "{\"time\":\"2023-11-14T22:13:20.123Z\",\"kind\":\"tunnel\",\"record\":\"";
        String who =
                "\",\"listener\":\"web\",\"client\":\"192.0.2.7\",\"peer\":\"192.0.2.7\",\"identity\":\"ci\",\"method\":\"CONNECT\","
                        + "\"scheme\":\"http\",\"authority\":\"api.example.com:443\",\"protocol\":\"HTTP/1.1\",\"status\":200,"
                        + "\"route\":\"shop\",\"upstream\":\"app\",\"endpoint\":\"app.test:9000\","
                        + "\"dialed\":\"192.0.2.9:3128\",\"parent\":\"https://proxy.test:3128\",\"attempts\":1,"
                        + "\"generation\":7,";
        String times = ",\"pendingMicros\":1,\"connectMicros\":1,\"responseMicros\":1000,\"bodyMicros\":";
        assertThat(written.toString(StandardCharsets.US_ASCII).lines())
                .containsExactly(
                        begin + "open" + who + "\"receivedBytes\":0,\"sentBytes\":0,\"durationMicros\":1002" + times
                                + "0}",
                        begin + "interim" + who + "\"receivedBytes\":7,\"sentBytes\":42,\"durationMicros\":2000" + times
                                + "998}",
                        begin + "close" + who
                                + "\"receivedBytes\":7,\"sentBytes\":42,\"endedBy\":\"upstream\",\"durationMicros\":3000"
                                + times + "1998}");
    }

    @Test
    void whatTlsAsksForInATunnelIsToldBesideWhereItLeads() throws IOException {
        ExchangeRecord record = Records.tunnel(Kind.TUNNEL, 200, null);
        record.tunnelServerName = "other.example";
        assertThat(line(JSON, record))
                .contains("\"authority\":\"api.example.com:443\",\"tunnelServerName\":\"other.example\",");
        written.reset();
        assertThat(line(template("{authority} {tunnelServerName}"), record))
                .isEqualTo("api.example.com:443 other.example\n");
    }

    @Test
    void anEndpointThatIsTheAddressDialedIsNotSaidTwice() throws IOException {
        ExchangeRecord record = Records.record("/", 200, null);
        record.endpoint = new NamedEndpoint("192.0.2.9:9000");
        record.hop = new DialedPeer("192.0.2.9:9000", "");
        assertThat(line(JSON, record))
                .contains("\"endpoint\":\"192.0.2.9:9000\",\"attempts\"")
                .doesNotContain("dialed", "parent");
    }

    @Test
    void earlierAttemptsAreToldWithTheirEndpointAndWhatBecameOfThem() throws IOException {
        ExchangeRecord record = Records.record("/", 200, null);
        record.endpoint = new NamedEndpoint("dead.test:9000");
        record.tryAgain(0, Failure.of(Cause.CONNECT_FAILED, "refused"));
        record.endpoint = new NamedEndpoint("busy.test:9000");
        record.tryAgain(503, null);
        record.endpoint = new NamedEndpoint("app.test:9000");
        record.attempts = 3;
        assertThat(line(JSON, record))
                .contains("\"endpoint\":\"app.test:9000\",\"attempts\":3,"
                        + "\"tried\":[{\"endpoint\":\"dead.test:9000\",\"cause\":\"connect_failed\"},"
                        + "{\"endpoint\":\"busy.test:9000\",\"status\":503}],\"generation\":7,");
        written.reset();
        assertThat(line(template("{attempts} {tried}"), record))
                .isEqualTo("3 dead.test:9000=connect_failed,busy.test:9000=503\n");
        written.reset();
        assertThat(line(template("{attempts} {tried}"), Records.record("/", 200, null)))
                .isEqualTo("1 -\n");
    }

    @Test
    void aSecondAttemptThatWasNotNeededIsTold() throws IOException {
        ExchangeRecord record = Records.record("/", 200, null);
        record.endpoint = new NamedEndpoint("slow.test:9000");
        record.tryAgain(0, null);
        record.endpoint = new NamedEndpoint("app.test:9000");
        record.attempts = 2;
        record.setHedge(ExchangeRecord.HedgeResult.WON);
        assertThat(line(JSON, record))
                .contains("\"tried\":[{\"endpoint\":\"slow.test:9000\"}],\"hedge\":\"won\",\"generation\":7,");
        written.reset();
        assertThat(line(template("{attempts} {tried} {hedge}"), record)).isEqualTo("2 slow.test:9000=- won\n");
        written.reset();
        assertThat(line(template("{hedge}"), Records.record("/", 200, null))).isEqualTo("-\n");
    }

    @Test
    void notMoreAttemptsAreKeptThanALineCanShow() throws IOException {
        ExchangeRecord record = Records.record("/", 200, null);
        for (int i = 0; i < 100; i++) {
            record.tryAgain(503, null);
        }
        assertThat(record.tried).hasSize(16);
    }

    @Test
    void aCombinedLogHasOneLineForATunnelThatNamesItsDestinationAndItsUser() throws IOException {
        ExchangeRecord record = Records.tunnel(Kind.TUNNEL, 200, null);
        record.identity = "c\"i";
        Log log = log(COMBINED);
        ExchangeObserver observer = log.loop;
        observer.onTunnelOpened(record);
        observer.onTunnelProgress(record);
        observer.onCompleted(record);
        log.close();
        assertThat(written.toString(StandardCharsets.US_ASCII))
                .isEqualTo("192.0.2.7 - c\\x22i [14/Nov/2023:22:13:20 +0000] \"CONNECT api.example.com:443 HTTP/1.1\""
                        + " 200 42 \"-\" \"-\"\n");
    }

    @Test
    void aCombinedLineIsWhatApacheWrites() throws IOException {
        ExchangeRecord record = Records.record("/a", 200, null);
        Records.userAgent(record, "Mozilla/5.0 \"x\"\n");
        assertThat(line(COMBINED, record))
                .isEqualTo("192.0.2.7 - - [14/Nov/2023:22:13:20 +0000] \"GET /a HTTP/1.1\" 200 42 \"-\" "
                        + "\"Mozilla/5.0 \\x22x\\x22\\x0a\"\n");
    }

    @Test
    void aRequestThatCouldNotBeMadeOutHasALineToo() throws IOException {
        ExchangeRecord record = Records.record("", 400, Cause.CLIENT_PROTOCOL_ERROR);
        record.method = null;
        record.fields = null;
        assertThat(line(COMBINED, record)).contains("\"-\" 400 42 \"-\" \"-\"");
    }

    @Test
    void whateverAClientSendsALineStaysOneJsonObject() throws IOException {
        StringBuilder hostile = new StringBuilder("/");
        for (char c = 0; c < 256; c++) {
            hostile.append(c);
        }
        hostile.append("\",\"status\":200}\n{\"x\":\"\\u0000\\");
        ExchangeRecord record = Records.record(hostile.toString(), 200, null);
        record.authority = Records.bytes("\"\\\r\n");
        record.detail = "\u2028\uffff\"";
        record.cause = Cause.CLIENT_PROTOCOL_ERROR;
        Records.userAgent(record, hostile.toString());
        String line = line(JSON, record);
        assertThat(line).endsWith("}\n");
        assertThat(line.substring(0, line.length() - 1)).matches(JSON_LINE);
        assertThat(line).contains("\\u2028\\uffff\\\"").contains("\\u00e9").contains("\\\\u0000\\\\");
    }

    @Test
    void theCheckOfLinesSeesAnUnescapedQuote() {
        assertThat("{\"path\":\"/\"x\"}").doesNotMatch(JSON_LINE);
        assertThat("{\"path\":\"/\n\"}").doesNotMatch(JSON_LINE);
        assertThat("{\"path\":\"/\"}").matches(JSON_LINE);
    }

    @Test
    void aLongLineIsWrittenWhole() throws IOException {
        String path = "/" + "x".repeat(100_000);
        assertThat(line(JSON, Records.record(path, 200, null))).contains(path);
    }

    @Test
    void linesAppearAMomentAfterTheFirst() throws IOException, InterruptedException {
        CountDownLatch flushed = new CountDownLatch(1);
        OutputStream out = new OutputStream() {
            @Override
            public void write(int b) {
                written.write(b);
            }

            @Override
            public void flush() {
                flushed.countDown();
            }
        };
        long[] now = {0};
        LogWriter writer = new LogWriter(new StreamDestination(out), LogWriter.Limits.DEFAULT, dropped);
        LoopAccessLog observer = new LoopAccessLog(new TimerWheel(loop.eventLoop(), () -> now[0]));
        Settings combined = settings(COMBINED);
        observer.use(combined.config(), new Redaction(combined.hidden), writer);
        observer.onCompleted(Records.record("/1", 200, null));
        observer.onCompleted(Records.record("/2", 200, null));
        now[0] = TimeUnit.SECONDS.toNanos(1);
        loop.advanceTimeBy(1, TimeUnit.SECONDS);
        loop.runScheduledPendingTasks();
        assertThat(flushed.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(written.toString(StandardCharsets.US_ASCII)).contains("/1").contains("/2");
        writer.close();
    }

    @Test
    void oneFullBatchAfterTheOtherIsWrittenWhole() throws IOException, InterruptedException {
        int lines = 0;
        StringBuilder expected = new StringBuilder();
        CountDownLatch spared = new CountDownLatch(1);
        OutputStream out = new OutputStream() {
            @Override
            public void write(int b) {
                written.write(b);
            }

            @Override
            public void write(byte[] bytes, int offset, int length) {
                written.write(bytes, offset, length);
                if (bytes.length == 1) {
                    spared.countDown();
                }
            }
        };
        byte[] used = new byte[LogWriter.BUFFER_BYTES];
        Arrays.fill(used, (byte) '#');
        try (Log log = log(settings(template("{path}")), new StreamDestination(out), 64)) {
            log.writer.offer(used, 0, 0);
            log.writer.offer(new byte[1], 0, 0); // is written when the one before it may be used again
            assertThat(spared.await(10, TimeUnit.SECONDS)).isTrue();
            while (expected.length() < 5 * LogWriter.BUFFER_BYTES) {
                String path = "/" + lines + "/" + "x".repeat(lines % 1000); // what an array had before, would be seen
                log.loop.onCompleted(Records.record(path, 200, null));
                expected.append(path).append('\n');
                lines++;
            }
        }
        assertThat(written.toString(StandardCharsets.US_ASCII)).isEqualTo(expected.toString());
        assertThat(dropped).hasValue(0);
    }

    @Test
    void theEndOfTheProcessDoesNotWaitForWhoeverHasStoppedReading() throws Exception {
        CountDownLatch stuck = new CountDownLatch(1);
        CountDownLatch freed = new CountDownLatch(1);
        OutputStream out = new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                stuck.countDown();
                try {
                    freed.await();
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
        };
        CountDownLatch wroteAgain = new CountDownLatch(1);
        AppenderBase<ILoggingEvent> told = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                if (event.getFormattedMessage().contains("can be written again")) {
                    wroteAgain.countDown();
                }
            }
        };
        told.start();
        Logger logger = (Logger) LoggerFactory.getLogger(LogWriter.class);
        logger.setLevel(Level.INFO);
        logger.addAppender(told);
        LogWriter log = new LogWriter(new StreamDestination(out), new LogWriter.Limits(1, 10), dropped);
        log.offer(new byte[] {1}, 1, 1);
        assertThat(stuck.await(10, TimeUnit.SECONDS)).isTrue();
        log.offer(new byte[] {2}, 1, 1); // the queue is full
        Thread closing = new Thread(log::close);
        closing.start();
        closing.join(20_000);
        boolean closed = !closing.isAlive();
        freed.countDown();
        closing.join();
        assertThat(closed).isTrue();
        // It was let go of: what it says of that must not come amid another test.
        assertThat(wroteAgain.await(20, TimeUnit.SECONDS)).isTrue();
        logger.detachAppender(told);
        logger.setLevel(null);
    }

    @Test
    void aStuckWriterCostsLinesAndNeverBlocks() throws IOException, InterruptedException {
        CountDownLatch stuck = new CountDownLatch(1);
        CountDownLatch freed = new CountDownLatch(1);
        OutputStream out = new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                stuck.countDown();
                try {
                    freed.await();
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
                written.write(b);
            }
        };
        Log log = log(settings(COMBINED), new StreamDestination(out), 1);
        LoopAccessLog observer = log.loop;
        observer.onCompleted(Records.record("/first", 200, null));
        observer.handOver();
        assertThat(stuck.await(10, TimeUnit.SECONDS)).isTrue();
        observer.onCompleted(Records.record("/queued", 200, null));
        observer.handOver();
        for (int i = 0; i < 3; i++) {
            observer.onCompleted(Records.record("/dropped", 200, null));
        }
        observer.handOver();
        assertThat(dropped).hasValue(3);
        freed.countDown();
        log.close();
        assertThat(written.toString(StandardCharsets.US_ASCII))
                .contains("/first")
                .contains("/queued")
                .doesNotContain("/dropped");
    }

    @Test
    void aMovedFileIsOpenedAnew(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("access.log");
        Path moved = directory.resolve("access.log.1");
        Log log = log(settings(COMBINED), new FileDestination(file, null, System::nanoTime), 4);
        LoopAccessLog observer = log.loop;
        observer.onCompleted(Records.record("/old", 200, null));
        observer.handOver();
        Files.move(file, moved);
        log.writer.reopen();
        observer.onCompleted(Records.record("/new", 200, null));
        log.close();
        assertThat(moved).content().contains("/old").doesNotContain("/new");
        assertThat(file).content().contains("/new").doesNotContain("/old");
    }

    @Test
    void aFullDiskIsComplainedOfOnce() throws Exception {
        AtomicInteger writes = new AtomicInteger();
        OutputStream full = new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                if (writes.incrementAndGet() <= 50) {
                    throw new IOException("No space left on device");
                }
            }
        };
        try (LoggedLines told = LoggedLines.of(LogWriter.class).from(Level.INFO).unseen()) {
            LogWriter log = new LogWriter(new StreamDestination(full), LogWriter.Limits.DEFAULT, dropped);
            for (int i = 0; i < 60; i++) {
                log.offer(new byte[] {'\n'}, 1, 1);
            }
            log.close();
            assertThat(dropped).hasValue(50);
            assertThat(told.messages())
                    .containsExactly(
                            "Cannot write the access log (lost so far: 1): java.io.IOException: No space left on"
                                    + " device",
                            "The access log can be written again; lost so far: 50");
        }
    }

    // ---- templates

    @Test
    void aTemplateShowsWhatItsFieldsSay() {
        ExchangeRecord record = Records.record("/a?b=c", 502, Cause.CONNECT_FAILED);
        Records.userAgent(record, "curl/8");
        record.responseFields = new Fields();
        record.responseFields.add(FieldName.of("X-Cache"), "HIT");
        record.responseFields.add(FieldName.of("X-Cache"), "MISS");
        assertThat(line(
                        template("{time} {requestLine} {status} {cause} {referer} [{requestHeader:User-Agent}]"
                                + " \"{responseHeader:X-Cache}\" {requestHeader:Nope}"),
                        record))
                .isEqualTo(
                        "2023-11-14T22:13:20.123Z GET /a?b=c HTTP/1.1 502 connect_failed - [curl/8] \"HIT, MISS\" -\n");
    }

    @Test
    void theHostOfARequestIsItsAuthorityWhereItHasNoSuchField() {
        ExchangeRecord record = Records.record("/", 200, null);
        assertThat(line(template("{requestHeader:Host} {responseHeader:Host}"), record))
                .isEqualTo(record.authority + " -\n");
        Settings hiding = new Settings(
                template("{requestHeader:Host}"), LogPolicy.ALL, new Hidden(Set.of(), Set.of(FieldName.HOST)));
        assertThat(line(hiding, record)).endsWith("\n***\n");
        Objects.requireNonNull(record.fields).add(FieldName.HOST, "other.example");
        assertThat(line(template("{requestHeader:host}"), record)).endsWith("\nother.example\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"{path}|{userAgent}|{status}", "{path},{userAgent},{status}", "{path} {userAgent} {status}"})
    void whateverAClientSendsATemplateHasAsManyColumns(String text) {
        StringBuilder hostile = new StringBuilder();
        for (char c = 0; c < 256; c++) {
            hostile.append(c);
        }
        ExchangeRecord record = Records.record("/" + hostile, 200, null);
        Records.userAgent(record, hostile + "\" 500 \"");
        String line = line(template(text), record);
        char separator = text.charAt("{path}".length());
        assertThat(line.chars().filter(c -> c == separator)).hasSize(2);
        assertThat(line.indexOf('\n')).isEqualTo(line.length() - 1);
        assertThat(line).endsWith(separator + "200\n").doesNotContain("\"");
    }

    @Test
    void aQuotedValueMayHaveSpacesButNoQuote() {
        ExchangeRecord record = Records.record("/", 200, null);
        Records.userAgent(record, "a b\" \"c\\");
        assertThat(line(template("\"{userAgent}\" {status}"), record)).isEqualTo("\"a b\\x22 \\x22c\\x5c\" 200\n");
    }

    @Test
    void everyFieldThatIsDocumentedCanBeWrittenAndNoOther() {
        assertThat(AccessLogTemplate.FIELDS.keySet())
                .containsExactlyInAnyOrderElementsOf(
                        LogField.all().stream().map(LogField::text).toList());
    }

    // ---- what must not be read

    @Test
    void secretsInQueriesAndHeadersAreHidden() {
        ExchangeRecord record = Records.record("/a?token=t1&x=1&%74oKen=t2;api+key=t3&tokens=2&token", 200, null);
        Fields fields = new Fields();
        fields.add(FieldName.REFERER, "https://a.example/?x=1&token=t4#t");
        fields.add(FieldName.AUTHORIZATION, "Basic secret");
        fields.add(FieldName.of("X-Secret"), "secret");
        fields.add(FieldName.of("X-Tier"), "gold");
        record.fields = fields;
        Lines format = new Lines(
                Format.JSON,
                null,
                List.of("Authorization", "X-Secret", "X-Tier", "Cookie"),
                List.of("Set-Cookie"),
                null);
        assertThat(line(format, record))
                .contains("\"path\":\"/a?token=***&x=1&%74oKen=***;api+key=***&tokens=2&token\"")
                .contains("\"referer\":\"https://a.example/?x=1&token=***\"")
                .contains("\"requestHeaders\":{\"authorization\":\"***\",\"x-secret\":\"***\",\"x-tier\":\"gold\"}}")
                .doesNotContain("responseHeaders");
        assertThat(line(template("{requestLine} {requestHeader:Authorization}"), record))
                .doesNotContain("t1")
                .endsWith(" ***\n");
        assertThat(line(template("{requestHeader:Referer}"), record)).endsWith("?x=1&token=***\n");
        Redaction all = new Redaction(new Hidden(Set.of(), Set.of(FieldName.REFERER)));
        assertThat(all.headerValue(FieldName.REFERER, Records.bytes("https://a.example/"))
                        .toString())
                .isEqualTo("***");
    }

    // ---- which exchanges have lines

    @Test
    void ofASampleWhatHasFailedIsNeverMissing() {
        Settings few = settings(COMBINED, new LogPolicy(Exchanges.ALL, 0.1));
        try (Log log = log(few, new StreamDestination(written), 256)) {
            for (int i = 0; i < 1000; i++) {
                log.loop.onCompleted(Records.record("/good", 200, null));
            }
            log.loop.onCompleted(Records.record("/cause", 404, Cause.NO_ROUTE));
            log.loop.onCompleted(Records.record("/status", 503, null));
        }
        String lines = written.toString(StandardCharsets.US_ASCII);
        assertThat(lines).contains("/cause", "/status");
        assertThat(lines.lines().filter(line -> line.contains("/good")).count()).isBetween(20L, 250L);
    }

    @Test
    void aTunnelHasAllOfItsLinesOrNone() {
        Settings half = settings(JSON, new LogPolicy(Exchanges.ALL, 0.5));
        try (Log log = log(half, new StreamDestination(written), 256)) {
            for (int i = 0; i < 100; i++) {
                ExchangeRecord record = Records.tunnel(Kind.TUNNEL, 200, null);
                log.loop.onTunnelOpened(record);
                log.loop.onCompleted(record);
            }
        }
        List<String> lines = written.toString(StandardCharsets.US_ASCII).lines().toList();
        assertThat(lines).hasSizeBetween(2, 198);
        assertThat(lines.stream().filter(line -> line.contains("\"open\""))).hasSize(lines.size() / 2);
    }

    @Test
    void aRouteMayWantNoLinesOrOnlyThoseOfFailures() {
        ExchangeRecord none = Records.record("/none", 500, Cause.UNKNOWN);
        none.logPolicy = new LogPolicy(Exchanges.NONE, 1);
        ExchangeRecord good = Records.record("/good", 200, null);
        good.logPolicy = new LogPolicy(Exchanges.FAILED, 1);
        ExchangeRecord failed = Records.record("/failed", 502, Cause.CONNECT_FAILED);
        failed.logPolicy = good.logPolicy;
        try (Log log = log(COMBINED)) {
            List.of(none, good, failed).forEach(log.loop::onCompleted);
        }
        assertThat(written.toString(StandardCharsets.US_ASCII))
                .contains("/failed")
                .hasLineCount(1);
    }
}
