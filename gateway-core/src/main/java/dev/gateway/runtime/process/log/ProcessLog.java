package dev.gateway.runtime.process.log;

import static java.nio.charset.StandardCharsets.UTF_8;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import ch.qos.logback.core.encoder.Encoder;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Instant;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Writes the process's own log in a thread of its own, so that logging threads never wait for the log's reader. Lines that
 * find the queue full are dropped and counted, and the log says how many once it can be written again. Any thread may
 * log. Logback's AsyncAppender does not count what it drops, and bounds the number of lines but not their size.
 */
final class ProcessLog extends UnsynchronizedAppenderBase<ILoggingEvent> {
    /** The appender's name. */
    static final String NAME = "process-log";

    private static final int MAX_LINES = 4096;
    private static final int MAX_BYTES = 1024 * 1024;
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final byte[] NOTHING = {};

    private final RepeatedFailures failures;
    private volatile Encoder<ILoggingEvent> encoder;
    private final OutputStream out;
    private final BlockingQueue<byte[]> queue = new ArrayBlockingQueue<>(MAX_LINES);
    private final AtomicLong held = new AtomicLong(); // bytes that wait or are being written
    private final AtomicLong dropped = new AtomicLong();
    private long toldDropped; // of the thread

    /**
     * Makes it; it takes lines once it is started.
     *
     * @param encoder has been started
     * @param out may block; nobody else should lock it while this writes
     */
    ProcessLog(Encoder<ILoggingEvent> encoder, OutputStream out) {
        this(encoder, out, System::nanoTime);
    }

    ProcessLog(Encoder<ILoggingEvent> encoder, OutputStream out, LongSupplier nanoClock) {
        this.failures = new RepeatedFailures(nanoClock);
        this.encoder = encoder;
        this.out = out;
        setName(NAME);
    }

    /** Writes lines by another encoder from now on. */
    void encodeBy(Encoder<ILoggingEvent> next) {
        encoder = next;
    }

    @Override
    public void start() {
        Thread thread = new Thread(this::run, NAME);
        thread.setDaemon(true);
        thread.start();
        super.start();
    }

    @Override
    protected void append(ILoggingEvent event) {
        long left = failures.ask(event);
        if (left < 0) {
            return;
        }
        byte[] line;
        try {
            line = encoder.encode(event);
            if (left > 0) {
                line = concat(line, more(left));
            }
        } catch (OutOfMemoryError e) { // the logging thread continues
            dropped.incrementAndGet();
            return;
        }
        if (held.addAndGet(line.length) > MAX_BYTES || !queue.offer(line)) {
            held.addAndGet(-line.length);
            dropped.incrementAndGet();
        }
    }

    private byte[] more(long left) {
        String text = "(and " + left + " times more since it was last shown)";
        Encoder<ILoggingEvent> current = encoder;
        return current instanceof JsonLogEncoder ? current.encode(warning(text)) : ("  " + text + "\n").getBytes(UTF_8);
    }

    /** Makes a line about the log itself. */
    private static ILoggingEvent warning(String message) {
        LoggingEvent event = new LoggingEvent();
        event.setLoggerName(ProcessLog.class.getName());
        event.setLevel(Level.WARN);
        event.setInstant(Instant.now());
        event.setMessage(message);
        return event;
    }

    private static byte[] concat(byte[] one, byte[] other) {
        byte[] both = Arrays.copyOf(one, one.length + other.length);
        System.arraycopy(other, 0, both, one.length, other.length);
        return both;
    }

    /** Returns how many lines were dropped. */
    long dropped() {
        return dropped.get();
    }

    /**
     * Waits until all that was logged has been written, or until the time is over.
     *
     * @return whether all has been written
     */
    boolean flush(long millis) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (held.get() > 0) {
            if (System.nanoTime() - deadline > 0 || Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
        return true;
    }

    private void run() {
        try {
            while (true) {
                writeNext();
            }
        } catch (InterruptedException e) {
            addInfo("The thread that writes the log was interrupted", e);
        }
    }

    private void writeNext() throws InterruptedException {
        byte[] line = NOTHING;
        try {
            line = queue.take();
            if (!write(line)) {
                dropped.incrementAndGet();
            } else if (dropped.get() != toldDropped && hasRoom()) {
                tellDropped();
            }
        } catch (OutOfMemoryError e) {
            dropped.incrementAndGet(); // there may be memory for the next one
        } finally {
            held.addAndGet(-line.length);
        }
    }

    /** Whether there is much room: else a slow reader would get a line about lost lines with each of the others. */
    private boolean hasRoom() {
        return held.get() < MAX_BYTES / 2 && queue.size() < MAX_LINES / 2;
    }

    private void tellDropped() {
        long now = dropped.get();
        String text = "%d lines of this log were dropped, because it was not read in time (%d since the start)"
                .formatted(now - toldDropped, now);
        if (write(encoder.encode(warning(text)))) {
            toldDropped = now;
        }
    }

    private boolean write(byte[] line) {
        try {
            out.write(line);
            return true;
        } catch (IOException e) { // nobody reads it any more, or its disk is full
            addError("The log cannot be written", e);
            return false;
        }
    }
}
