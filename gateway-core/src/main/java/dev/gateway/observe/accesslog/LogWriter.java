package dev.gateway.observe.accesslog;

import dev.gateway.files.FileFault;
import dev.gateway.observe.ThrottledLog;
import java.io.IOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes lines to one destination, in a thread of its own: any thread hands over batches by a bounded queue. What finds
 * the queue full is dropped and counted.
 */
final class LogWriter implements AutoCloseable {
    /** The size of a full batch's array. A write of that much costs half as much for each byte as one of 16 KiB. */
    static final int BUFFER_BYTES = 64 * 1024;

    private static final Logger log = LoggerFactory.getLogger(LogWriter.class);
    private static final int SPARES = 16;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** How much may wait, and how long the end may take. */
    record Limits(int queuedBatches, long closeMillis) {
        static final Limits DEFAULT =
                new Limits(64, 5_000); // batches of 64 KiB: 4 MiB, which a small container can spare
    }

    /** What the writer is to do. */
    private enum Order {
        WRITE,
        REOPEN,
        END
    }

    private static final class Batch {
        final Order order;
        final byte[] bytes;
        final int length;
        final int lines;

        Batch(Order order, byte[] bytes, int length, int lines) {
            this.order = order;
            this.bytes = bytes;
            this.length = length;
            this.lines = lines;
        }

        Batch(Order order) {
            this(order, new byte[0], 0, 0);
        }
    }

    private final LogDestination destination;
    private final BlockingQueue<Batch> queue;
    private final BlockingQueue<byte[]> spares = new ArrayBlockingQueue<>(SPARES);
    private final long closeMillis;
    private final AtomicLong dropped;
    private final ThrottledLog complaints; // of the thread
    private final Thread thread;
    private volatile boolean reopens; // asked for when the queue was full, and not done yet

    /**
     * Starts it.
     *
     * @param dropped counts dropped lines; another writer that takes over continues it
     */
    LogWriter(LogDestination destination, Limits limits, AtomicLong dropped) {
        this.destination = destination;
        this.queue = new ArrayBlockingQueue<>(limits.queuedBatches());
        this.closeMillis = limits.closeMillis();
        this.dropped = dropped;
        this.complaints =
                new ThrottledLog(log, "Cannot write the access log", "The access log can be written again", dropped);
        this.thread = new Thread(this::run, "access-log");
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * Takes lines; never waits.
     *
     * @param bytes belong to the writer from here on
     * @param length how much of them counts
     */
    void offer(byte[] bytes, int length, int lines) {
        if (!queue.offer(new Batch(Order.WRITE, bytes, length, lines))) {
            dropped.addAndGet(lines);
            reuse(bytes);
        }
    }

    /** Returns an array of {@link #BUFFER_BYTES}, with whatever was written by it before. */
    byte[] spare() {
        byte[] spare = spares.poll();
        return spare == null ? new byte[BUFFER_BYTES] : spare;
    }

    private void reuse(byte[] bytes) {
        if (bytes.length == BUFFER_BYTES && !spares.offer(bytes)) {
            log.trace("There are spare buffers enough");
        }
    }

    /** Has a file opened again: when what was handed over is written, or before that if the queue is full. */
    void reopen() {
        if (!queue.offer(new Batch(Order.REOPEN))) {
            reopens = true;
            queue.offer(new Batch(Order.REOPEN)); // wakes the thread if it has emptied the queue meanwhile
        }
    }

    private void run() {
        try {
            for (Batch batch = next(); batch.order != Order.END; batch = next()) {
                if (reopens || batch.order == Order.REOPEN) {
                    reopens = false; // first: who asks while it is opened gets it opened once more
                    reopenDestination();
                }
                if (batch.order == Order.WRITE) {
                    write(batch);
                }
            }
        } catch (InterruptedException e) {
            log.warn("The writer of the access log was interrupted; {} batches are lost", queue.size());
        }
        try {
            destination.close();
        } catch (IOException | RuntimeException e) {
            log.warn("Cannot close the access log: {}", e.toString());
        }
    }

    /** Looks now and then while there is much to do: being woken for each batch would cost the event loops as well. */
    private Batch next() throws InterruptedException {
        Batch batch = queue.poll();
        if (batch == null) {
            LockSupport.parkNanos(PAUSE_NANOS);
            batch = queue.take();
        }
        return batch;
    }

    private void write(Batch batch) {
        try {
            int lost = destination.write(batch.bytes, batch.length);
            dropped.addAndGet(lost);
            if (lost == 0) {
                complaints.succeeded();
            }
        } catch (IOException | RuntimeException e) {
            dropped.addAndGet(batch.lines);
            complaints.failed(e.toString());
        }
        reuse(batch.bytes);
    }

    private void reopenDestination() {
        try {
            destination.reopen();
        } catch (IOException | RuntimeException e) {
            log.warn(
                    "Cannot reopen the access log, so the gateway keeps writing the old file: {}",
                    FileFault.message(e));
        }
    }

    /** Writes what it was handed over so far, and closes the destination. */
    @Override
    public void close() {
        try {
            // Who reads standard output may have stopped reading: the end of the process does not wait for that.
            if (queue.offer(new Batch(Order.END), closeMillis, TimeUnit.MILLISECONDS)) {
                thread.join(closeMillis);
            }
            if (thread.isAlive()) {
                log.warn("Cannot write the access log; {} batches are lost", queue.size());
                thread.interrupt(); // it may block on a socket
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
