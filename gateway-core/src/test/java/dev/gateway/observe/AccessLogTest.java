package dev.gateway.observe;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.stream.Cause;
import dev.gateway.stream.Hop;
import dev.gateway.time.TimerWheel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
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

    private String line(AccessLog.Format format, ExchangeRecord record) throws IOException {
        AccessLog log = new AccessLog(null, format, written, 4);
        log.newLoop(wheel).onCompleted(record);
        log.close();
        return written.toString(StandardCharsets.ISO_8859_1);
    }

    @Test
    void aLineOfJsonTellsWhatHappened() throws IOException {
        ExchangeRecord record = Records.record("/a?b=c", 502, Cause.CONNECT_FAILED);
        Records.userAgent(record, "curl/8");
        assertThat(line(AccessLog.Format.JSON, record))
                .isEqualTo("{\"time\":\"2023-11-14T22:13:20.123Z\",\"listener\":\"web\",\"peer\":\"192.0.2.7\","
                        + "\"method\":\"GET\",\"scheme\":\"http\",\"authority\":\"shop.example.com\","
                        + "\"path\":\"/a?b=c\",\"protocol\":\"HTTP/1.1\",\"status\":502,\"cause\":\"connect_failed\","
                        + "\"detail\":\"made by the test\",\"route\":\"shop\",\"upstream\":\"app\","
                        + "\"endpoint\":\"app.test:9000\",\"attempts\":1,\"receivedBytes\":0,\"sentBytes\":42,"
                        + "\"durationMicros\":3000,\"connectMicros\":1,\"responseMicros\":1000,"
                        + "\"userAgent\":\"curl/8\"}\n");
    }

    @Test
    void aTunnelHasALineWhenItOpensWhileItLastsAndWhenItEnds() throws IOException {
        ExchangeRecord record = Records.tunnel(Kind.TUNNEL, 200, null);
        record.identity = "ci";
        record.hop = new Hop("192.0.2.9:3128", "https://proxy.test:3128");
        record.endNanos = 0;
        record.endedBy = null;
        record.sentBytes = 0;
        record.receivedBytes = 0;
        record.reportedNanos = record.openedNanos;
        AccessLog log = new AccessLog(null, AccessLog.Format.JSON, written, 4);
        ExchangeObserver observer = log.newLoop(wheel);
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
        String who = "\",\"listener\":\"web\",\"peer\":\"192.0.2.7\",\"identity\":\"ci\",\"method\":\"CONNECT\","
                + "\"scheme\":\"http\",\"authority\":\"api.example.com:443\",\"protocol\":\"HTTP/1.1\",\"status\":200,"
                + "\"route\":\"shop\",\"upstream\":\"app\",\"endpoint\":\"app.test:9000\","
                + "\"dialled\":\"192.0.2.9:3128\",\"parent\":\"https://proxy.test:3128\",\"attempts\":1,";
        String times = ",\"connectMicros\":1,\"responseMicros\":1000}";
        assertThat(written.toString(StandardCharsets.US_ASCII).lines())
                .containsExactly(
                        begin + "open" + who + "\"receivedBytes\":0,\"sentBytes\":0,\"durationMicros\":1002" + times,
                        begin + "interim" + who + "\"receivedBytes\":7,\"sentBytes\":42,\"durationMicros\":2000"
                                + times,
                        begin + "close" + who
                                + "\"receivedBytes\":7,\"sentBytes\":42,\"endedBy\":\"upstream\",\"durationMicros\":3000"
                                + times);
    }

    @Test
    void anEndpointThatIsTheAddressDialledIsNotSaidTwice() throws IOException {
        ExchangeRecord record = Records.record("/", 200, null);
        record.endpoint = "192.0.2.9:9000";
        record.hop = new Hop("192.0.2.9:9000", "");
        assertThat(line(AccessLog.Format.JSON, record))
                .contains("\"endpoint\":\"192.0.2.9:9000\",\"attempts\"")
                .doesNotContain("dialled", "parent");
    }

    @Test
    void aCombinedLogHasOneLineForATunnelThatNamesItsDestinationAndItsUser() throws IOException {
        ExchangeRecord record = Records.tunnel(Kind.TUNNEL, 200, null);
        record.identity = "c\"i";
        AccessLog log = new AccessLog(null, AccessLog.Format.COMBINED, written, 4);
        ExchangeObserver observer = log.newLoop(wheel);
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
        assertThat(line(AccessLog.Format.COMBINED, record))
                .isEqualTo("192.0.2.7 - - [14/Nov/2023:22:13:20 +0000] \"GET /a HTTP/1.1\" 200 42 \"-\" "
                        + "\"Mozilla/5.0 \\x22x\\x22\\x0a\"\n");
    }

    @Test
    void aRequestThatCouldNotBeMadeOutHasALineToo() throws IOException {
        ExchangeRecord record = Records.record("", 400, Cause.CLIENT_PROTOCOL_ERROR);
        record.method = null;
        record.fields = null;
        assertThat(line(AccessLog.Format.COMBINED, record)).contains("\"-\" 400 42 \"-\" \"-\"");
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
        String line = line(AccessLog.Format.JSON, record);
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
        assertThat(line(AccessLog.Format.JSON, Records.record(path, 200, null))).contains(path);
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
        AccessLog log = new AccessLog(null, AccessLog.Format.COMBINED, out, 4);
        ExchangeObserver observer = log.newLoop(new TimerWheel(loop.eventLoop(), () -> now[0]));
        observer.onCompleted(Records.record("/1", 200, null));
        observer.onCompleted(Records.record("/2", 200, null));
        now[0] = TimeUnit.SECONDS.toNanos(1);
        loop.advanceTimeBy(1, TimeUnit.SECONDS);
        loop.runScheduledPendingTasks();
        assertThat(flushed.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(written.toString(StandardCharsets.US_ASCII)).contains("/1").contains("/2");
        log.close();
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
        AccessLog log = new AccessLog(null, AccessLog.Format.COMBINED, out, 1, 10);
        log.offer(new byte[] {1}, 1);
        assertThat(stuck.await(10, TimeUnit.SECONDS)).isTrue();
        log.offer(new byte[] {2}, 1); // the queue is full
        Thread closing = new Thread(log::close);
        closing.start();
        closing.join(20_000);
        boolean closed = !closing.isAlive();
        freed.countDown();
        closing.join();
        assertThat(closed).isTrue();
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
        AccessLog log = new AccessLog(null, AccessLog.Format.COMBINED, out, 1);
        LoopAccessLog observer = (LoopAccessLog) log.newLoop(wheel);
        observer.onCompleted(Records.record("/first", 200, null));
        observer.handOver();
        assertThat(stuck.await(10, TimeUnit.SECONDS)).isTrue();
        observer.onCompleted(Records.record("/queued", 200, null));
        observer.handOver();
        for (int i = 0; i < 3; i++) {
            observer.onCompleted(Records.record("/dropped", 200, null));
        }
        observer.handOver();
        assertThat(log.dropped()).isEqualTo(3);
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
        AccessLog log = new AccessLog(file, AccessLog.Format.COMBINED);
        LoopAccessLog observer = (LoopAccessLog) log.newLoop(wheel);
        observer.onCompleted(Records.record("/old", 200, null));
        observer.handOver();
        Files.move(file, moved);
        assertThat(log.reopen()).isTrue();
        observer.onCompleted(Records.record("/new", 200, null));
        log.close();
        assertThat(moved).content().contains("/old").doesNotContain("/new");
        assertThat(file).content().contains("/new").doesNotContain("/old");
    }

    @Test
    void aFullDiskIsComplainedOfOnce() throws Exception {
        Logger logger = (Logger) LoggerFactory.getLogger(AccessLog.class);
        ListAppender<ILoggingEvent> told = new ListAppender<>();
        told.start();
        logger.addAppender(told);
        logger.setLevel(Level.INFO);
        logger.setAdditive(false); // what is provoked here is not to be seen
        AtomicInteger writes = new AtomicInteger();
        OutputStream full = new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                if (writes.incrementAndGet() <= 50) {
                    throw new IOException("No space left on device");
                }
            }
        };
        try {
            AccessLog log = new AccessLog(null, AccessLog.Format.JSON, full, 256);
            for (int i = 0; i < 60; i++) {
                log.offer(new byte[] {'\n'}, 1);
            }
            log.close();
            assertThat(log.dropped()).isEqualTo(50);
            assertThat(told.list)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .containsExactly(
                            "Cannot write the access log (lines dropped so far: 1):"
                                    + " java.io.IOException: No space left on device",
                            "The access log can be written again; lines dropped so far: 50");
        } finally {
            logger.detachAppender(told);
            logger.setLevel(null);
            logger.setAdditive(true);
        }
    }
}
