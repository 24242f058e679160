package dev.gateway.runtime.process.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.LoggingEvent;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class ProcessLogTest {
    private static final long LONG = 10_000;

    private final LoggerContext context = new LoggerContext();

    /** Standard error whose reader sleeps until it is woken. */
    private static final class Unread extends OutputStream {
        private final CountDownLatch woken = new CountDownLatch(1);
        private final ByteArrayOutputStream written = new ByteArrayOutputStream();

        @Override
        public void write(int b) {
            throw new AssertionError("a line is written at once");
        }

        @Override
        public void write(byte[] line) throws IOException {
            try {
                woken.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            written.write(line);
        }

        String text() {
            return written.toString(StandardCharsets.UTF_8);
        }
    }

    private ProcessLog start(OutputStream out) {
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern("%msg%n");
        encoder.start();
        ProcessLog log = new ProcessLog(encoder, out);
        log.setContext(context);
        log.start();
        return log;
    }

    private void log(ProcessLog log, String message) {
        log.doAppend(new LoggingEvent("test", context.getLogger("test"), Level.WARN, message, null, null));
    }

    @Test
    void allThatWasLoggedIsWrittenInOrderOnceItIsFlushed() {
        Unread out = new Unread();
        out.woken.countDown();
        ProcessLog log = start(out);
        log(log, "one");
        log(log, "two");
        assertThat(log.flush(LONG)).isTrue();
        assertThat(out.text()).isEqualToIgnoringNewLines("one\ntwo\n");
        assertThat(log.dropped()).isZero();
    }

    @Test
    void linesThatNobodyReadsAreDroppedAndToldOnceThereIsRoomAgain() {
        Unread out = new Unread();
        ProcessLog log = start(out);
        for (int i = 0; i < 10_000; i++) {
            log(log, "line " + i);
        }
        long dropped = log.dropped();
        assertThat(dropped).isBetween(5_000L, 6_000L);
        assertThat(log.flush(1)).isFalse();
        out.woken.countDown();
        assertThat(log.flush(LONG)).isTrue();
        assertThat(out.text())
                .contains("line 0")
                .doesNotContain("line 9999")
                .containsOnlyOnce(dropped + " lines of this log were dropped");
        log(log, "later");
        assertThat(log.flush(LONG)).isTrue();
        assertThat(out.text()).contains("later").containsOnlyOnce("were dropped");
    }

    @Test
    void fewLargeLinesHaveABoundAsWell() {
        Unread out = new Unread();
        ProcessLog log = start(out);
        String large = "x".repeat(100_000);
        for (int i = 0; i < 20; i++) {
            log(log, large);
        }
        assertThat(log.dropped()).isEqualTo(10);
        out.woken.countDown();
        assertThat(log.flush(LONG)).isTrue();
    }

    @Test
    void linesThatCannotBeWrittenAreCounted() {
        ProcessLog log = start(new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException("No space left on device");
            }
        });
        log(log, "lost");
        assertThat(log.flush(LONG)).isTrue();
        assertThat(log.dropped()).isEqualTo(1);
    }

    @Test
    void aLineForWhichThereIsNoMemoryEndsNothing() {
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        ProcessLog log = start(new OutputStream() {
            private boolean failed;

            @Override
            public void write(int b) {
                throw new AssertionError("a line is written at once");
            }

            @Override
            public void write(byte[] line) {
                if (!failed) {
                    failed = true;
                    throw new OutOfMemoryError("Java heap space");
                }
                written.writeBytes(line);
            }
        });
        log(log, "lost");
        assertThat(log.flush(LONG)).isTrue();
        assertThat(log.dropped()).isEqualTo(1);
        log(log, "next");
        assertThat(log.flush(LONG)).isTrue();
        assertThat(written.toString(StandardCharsets.UTF_8))
                .contains("next")
                .contains("1 lines of this log were dropped");
    }

    @Test
    void ofTheSameFailureOneStackTraceAMinuteIsShown() {
        Unread out = new Unread();
        out.woken.countDown();
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern("%msg%n%nopex");
        encoder.start();
        long[] now = {0};
        ProcessLog log = new ProcessLog(encoder, out, () -> now[0]);
        log.setContext(context);
        log.start();
        for (int i = 0; i < 1_000; i++) {
            fail(log, "failed " + i, new IllegalStateException("defect"));
        }
        fail(log, "another", new IllegalArgumentException("defect"));
        log(log, "no failure");
        now[0] = TimeUnit.SECONDS.toNanos(61);
        fail(log, "failed again", new IllegalStateException("defect"));
        assertThat(log.flush(LONG)).isTrue();
        assertThat(out.text())
                .isEqualToIgnoringNewLines(
                        """
                        failed 0
                        another
                        no failure
                        failed again
                          (and 999 times more since it was last shown)
                        """);
    }

    @Test
    void failuresOfAnyKindAreBounded() {
        RepeatedFailures failures = new RepeatedFailures(() -> 0);
        int shown = 0;
        for (int i = 0; i < 1_000; i++) {
            LoggingEvent event = new LoggingEvent(
                    "test", context.getLogger("test" + i), Level.ERROR, "failed", new IllegalStateException(), null);
            shown += failures.ask(event) == 0 ? 1 : 0;
        }
        assertThat(shown).isEqualTo(65);
    }

    private void fail(ProcessLog log, String message, RuntimeException failure) {
        failure.setStackTrace(new StackTraceElement[] {new StackTraceElement("a.B", "c", "B.java", 7)});
        log.doAppend(new LoggingEvent("test", context.getLogger("test"), Level.ERROR, message, failure, null));
    }
}
