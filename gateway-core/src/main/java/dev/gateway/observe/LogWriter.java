package dev.gateway.observe;

import java.io.IOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes lines to one destination, in a thread of its own: any thread hands over batches by a bounded queue. What finds
 * the queue full is dropped and counted.
 */
final class LogWriter implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LogWriter.class);
    private static final long COMPLAIN_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** How much may wait, and how long the end may take. */
    record Limits(int queuedBatches, long closeMillis) {
        static final Limits DEFAULT = new Limits(256, 5_000); // batches of some 16 KiB
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

    private final LogDestination destination;
    private final BlockingQueue<Batch> queue;
    private final long closeMillis;
    private final AtomicLong dropped;
    private final Thread thread;
    private volatile boolean reopens; // asked for when the queue was full, and not done yet
    // Of the thread.
    private boolean failing;
    private long complainedNanos;

    /**
     * Starts it.
     *
     * @param dropped counts what is dropped, and goes on when another writer takes over
     */
    LogWriter(LogDestination destination, Limits limits, AtomicLong dropped) {
        this.destination = destination;
        this.queue = new ArrayBlockingQueue<>(limits.queuedBatches());
        this.closeMillis = limits.closeMillis();
        this.dropped = dropped;
        this.thread = new Thread(this::run, "access-log");
        thread.setDaemon(true);
        thread.start();
    }

    /** Takes lines; never waits. */
    void offer(byte[] bytes, int lines) {
        if (!queue.offer(new Batch(Order.WRITE, bytes, lines))) {
            dropped.addAndGet(lines);
        }
    }

    /** Has a file opened anew: when what was handed over is written, or before that if the queue is full. */
    void reopen() {
        if (!queue.offer(new Batch(Order.REOPEN))) {
            reopens = true;
            queue.offer(new Batch(Order.REOPEN)); // wakes the thread if it has emptied the queue meanwhile
        }
    }

    private void run() {
        try {
            for (Batch batch = queue.take(); batch.order != Order.END; batch = queue.take()) {
                if (reopens || batch.order == Order.REOPEN) {
                    reopens = false; // first: who asks while it is opened gets it opened once more
                    reopenDestination();
                }
                if (batch.order == Order.WRITE) {
                    write(batch);
                }
            }
        } catch (InterruptedException e) {
            LOG.warn("The access log's writer was interrupted; {} batches are lost", queue.size());
        }
        try {
            destination.close();
        } catch (IOException | RuntimeException e) {
            LOG.warn("Cannot close the access log: {}", e.toString());
        }
    }

    private void write(Batch batch) {
        try {
            int lost = destination.write(batch.bytes);
            dropped.addAndGet(lost);
            if (failing && lost == 0) {
                failing = false;
                LOG.info("The access log can be written again; lines dropped so far: {}", dropped.get());
            }
        } catch (IOException | RuntimeException e) {
            dropped.addAndGet(batch.lines);
            complain(e);
        }
    }

    /** A full disk stays full for a while, and would get a line here for each batch that it does not take there. */
    private void complain(Exception e) {
        long now = System.nanoTime();
        if (!failing || now - complainedNanos > COMPLAIN_NANOS) {
            failing = true;
            complainedNanos = now;
            LOG.warn("Cannot write the access log (lines dropped so far: {}): {}", dropped.get(), e.toString());
        }
    }

    private void reopenDestination() {
        try {
            destination.reopen();
        } catch (IOException | RuntimeException e) {
            LOG.warn("Cannot reopen the access log, so the old file is kept: {}", e.toString());
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
                LOG.warn("The access log cannot be written; {} batches are lost", queue.size());
                thread.interrupt(); // lets go of a socket
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
