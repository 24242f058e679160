package dev.gateway.observe;

import dev.gateway.time.TimerWheel;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes a line per exchange without making any event loop wait: loops format lines and hand over batches by a bounded
 * queue, one thread writes them. What finds the queue full is dropped and counted.
 */
public final class AccessLog implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AccessLog.class);
    private static final int QUEUED_BATCHES = 256; // of some 16 KiB
    private static final long CLOSE_MILLIS = 5_000;
    private static final long COMPLAIN_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** What the writer is to do. */
    private enum Order {
        WRITE,
        REOPEN,
        END
    }

    private static final class Batch {
        final Order order;
        final byte[] bytes;
        final int lines;

        Batch(Order order, byte[] bytes, int lines) {
            this.order = order;
            this.bytes = bytes;
            this.lines = lines;
        }

        Batch(Order order) {
            this(order, new byte[0], 0);
        }
    }

    /** How lines look. */
    public enum Format {
        /** A JSON object per line. */
        JSON,
        /** As Apache and nginx write it. */
        COMBINED
    }

    private final @Nullable Path file;
    private final Format format;
    private final OutputStream stdout;
    private final BlockingQueue<Batch> queue;
    private final List<LoopAccessLog> loops = new CopyOnWriteArrayList<>();
    private final long closeMillis;
    private final AtomicLong dropped = new AtomicLong();
    private final Thread writer;
    // Of the writer, once it runs.
    private OutputStream out;
    private boolean failing;
    private long complainedNanos;

    /**
     * Opens the log and starts its writer.
     *
     * @param file appended to, and made if it is not there; null for standard output
     * @throws IOException if the file cannot be opened
     */
    public AccessLog(@Nullable Path file, Format format) throws IOException {
        this(file, format, System.out, QUEUED_BATCHES);
    }

    AccessLog(@Nullable Path file, Format format, OutputStream stdout, int queuedBatches) throws IOException {
        this(file, format, stdout, queuedBatches, CLOSE_MILLIS);
    }

    AccessLog(@Nullable Path file, Format format, OutputStream stdout, int queuedBatches, long closeMillis)
            throws IOException {
        this.closeMillis = closeMillis;
        this.file = file;
        this.format = format;
        this.stdout = stdout;
        this.queue = new ArrayBlockingQueue<>(queuedBatches);
        this.out = open();
        this.writer = new Thread(this::write, "access-log");
        writer.setDaemon(true);
        writer.start();
    }

    private OutputStream open() throws IOException {
        return file == null
                ? stdout
                : Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /** Returns the observer of another event loop. */
    public ExchangeObserver newLoop(TimerWheel wheel) {
        Supplier<AccessLogFormat> made =
                switch (format) {
                    case JSON -> AccessLogFormat.Json::new;
                    case COMBINED -> AccessLogFormat.Combined::new;
                };
        LoopAccessLog loop = new LoopAccessLog(this, wheel, made.get());
        loops.add(loop);
        return loop;
    }

    /** Takes lines from a loop; never waits. */
    void offer(byte[] bytes, int lines) {
        if (!queue.offer(new Batch(Order.WRITE, bytes, lines))) {
            dropped.addAndGet(lines);
        }
    }

    /** Returns how many lines were dropped. */
    public long dropped() {
        return dropped.get();
    }

    /**
     * Opens the file anew, after it was moved by who rotates logs. Lines handed over before go to the old one.
     *
     * @return false if the queue is full, so that it must be asked for again
     */
    public boolean reopen() {
        return queue.offer(new Batch(Order.REOPEN));
    }

    private void write() {
        try {
            for (Batch batch = queue.take(); batch.order != Order.END; batch = queue.take()) {
                if (batch.order == Order.REOPEN) {
                    reopenOut();
                } else {
                    writeOut(batch);
                }
            }
            closeOut();
        } catch (InterruptedException e) {
            LOG.warn("The access log's writer was interrupted; {} batches are lost", queue.size());
        }
    }

    private void writeOut(Batch batch) {
        try {
            out.write(batch.bytes);
            out.flush();
            if (failing) {
                failing = false;
                LOG.info("The access log can be written again; lines dropped so far: {}", dropped.get());
            }
        } catch (IOException e) {
            dropped.addAndGet(batch.lines);
            complain(e);
        }
    }

    /** A full disk stays full for a while, and would get a line here for each batch that it does not take there. */
    private void complain(IOException e) {
        long now = System.nanoTime();
        if (!failing || now - complainedNanos > COMPLAIN_NANOS) {
            failing = true;
            complainedNanos = now;
            LOG.warn("Cannot write the access log (lines dropped so far: {}): {}", dropped.get(), e.toString());
        }
    }

    private void reopenOut() {
        try {
            OutputStream fresh = open();
            closeOut();
            out = fresh;
        } catch (IOException e) {
            LOG.warn("Cannot reopen the access log, so the old file is kept: {}", e.toString());
        }
    }

    private void closeOut() {
        if (file == null) {
            return; // standard output is not ours to close
        }
        try {
            out.close();
        } catch (IOException e) {
            LOG.warn("Cannot close the access log: {}", e.toString());
        }
    }

    /** Writes what is left, and closes the file. To be called when the event loops have ended. */
    @Override
    public void close() {
        for (LoopAccessLog loop : loops) {
            loop.handOver();
        }
        try {
            // Who reads standard output may have stopped reading: the end of the process does not wait for that.
            if (queue.offer(new Batch(Order.END), closeMillis, TimeUnit.MILLISECONDS)) {
                writer.join(closeMillis);
            }
            if (writer.isAlive()) {
                LOG.warn("The access log cannot be written; {} batches are lost", queue.size());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
