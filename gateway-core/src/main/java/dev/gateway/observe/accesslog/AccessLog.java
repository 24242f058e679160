package dev.gateway.observe.accesslog;

import dev.gateway.config.observe.AccessLogConfig;
import dev.gateway.config.value.ConfigEquality;
import dev.gateway.observe.ExchangeObserver;
import dev.gateway.time.TimerWheel;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Access log. Lines of exchanges, without making any event loop wait: each loop formats its own and hands over batches to
 * the one {@link LogWriter}. How lines look and where they go may change at any time, by one thread at a time; no line is
 * lost then.
 */
public final class AccessLog implements AutoCloseable {
    private final AtomicLong dropped = new AtomicLong();
    private final List<LoopAccessLog> loops = new CopyOnWriteArrayList<>();
    private final LogWriter.Limits limits;
    private final ReceiverAddresses addresses;
    private volatile @Nullable LogWriter writer; // null while there are no lines
    private AccessLogConfig.@Nullable Target target; // of the writer

    /**
     * Makes a log without lines.
     *
     * @param addresses resolves the names of receivers
     */
    public AccessLog(ReceiverAddresses addresses) {
        this(LogWriter.Limits.DEFAULT, addresses);
    }

    AccessLog(LogWriter.Limits limits, ReceiverAddresses addresses) {
        this.limits = limits;
        this.addresses = addresses;
    }

    /** Returns the observer of another event loop. */
    public ExchangeObserver newLoop(TimerWheel wheel) {
        LoopAccessLog loop = new LoopAccessLog(wheel);
        loops.add(loop);
        return loop;
    }

    /** A change that has been prepared, and that one of the two methods ends. */
    public final class Change {
        private final AccessLogConfig config;
        private final Redaction redaction;
        private final @Nullable LogDestination opened; // null if the current one is kept, or there is none

        private Change(AccessLogConfig config, Redaction redaction, @Nullable LogDestination opened) {
            this.config = config;
            this.redaction = redaction;
            this.opened = opened;
        }

        /** Makes it: lines of what ends from now on look and go as wanted. Returns when every loop does so. */
        public void commit() {
            LogWriter former = writer;
            boolean off = config.lines().format() == AccessLogConfig.Format.OFF;
            LogWriter next = off ? null : opened == null ? former : new LogWriter(opened, limits, dropped);
            List<CompletableFuture<Void>> done = new ArrayList<>();
            for (LoopAccessLog loop : loops) {
                done.add(CompletableFuture.runAsync(() -> loop.use(config, redaction, next), loop.executor()));
            }
            CompletableFuture.allOf(done.toArray(CompletableFuture<?>[]::new)).join();
            writer = next;
            target = off ? null : config.target();
            if (former != null && former != next) {
                former.close();
            }
        }

        /** Leaves all as it was. */
        public void cancel() {
            if (opened != null) {
                try {
                    opened.close();
                } catch (IOException e) {
                    throw new IllegalStateException(e); // nothing was written to it
                }
            }
        }
    }

    /**
     * Opens what another look or place needs. Where the place is the one of before, it stays open.
     *
     * @param out the process's standard output, which throws what it cannot write
     * @throws IOException if it cannot be opened; then all is as it was
     */
    public Change prepare(AccessLogConfig config, Redaction redaction, OutputStream out) throws IOException {
        boolean opens = config.lines().format() != AccessLogConfig.Format.OFF
                && !ConfigEquality.isSame(target, config.target());
        return new Change(config, redaction, opens ? open(config.target(), out, addresses) : null);
    }

    /** Opens a place. */
    static LogDestination open(AccessLogConfig.Target target, OutputStream out, ReceiverAddresses addresses)
            throws IOException {
        if (target.syslog() != null) {
            return new SyslogDestination(target.syslog(), addresses);
        }
        return target.file() == null
                ? new StreamDestination(out)
                : new FileDestination(target.file(), target.rotation(), System::nanoTime);
    }

    /** The same of a destination that is open. */
    Change prepare(AccessLogConfig config, Redaction redaction, LogDestination opened) {
        return new Change(config, redaction, opened);
    }

    /** Returns the last failed exchanges of each event loop, which are kept also while there are no lines. */
    public List<RecentFailures> failures() {
        return loops.stream().map(loop -> loop.failures).toList();
    }

    /** Returns how many lines were dropped. */
    public long dropped() {
        return dropped.get();
    }

    /** Opens the file again, after it was moved by who rotates logs. */
    public void reopen() {
        LogWriter current = writer;
        if (current != null) {
            current.reopen();
        }
    }

    /** Writes what is left, and closes the destination. To be called when the event loops have ended. */
    @Override
    public void close() {
        for (LoopAccessLog loop : loops) {
            loop.handOver();
        }
        LogWriter current = writer;
        if (current != null) {
            current.close();
        }
    }
}
