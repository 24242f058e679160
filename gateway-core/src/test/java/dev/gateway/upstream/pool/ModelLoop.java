package dev.gateway.upstream.pool;

import io.netty.channel.AbstractEventLoop;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.ArrayDeque;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * An event loop that a test runs in its own thread, by a clock that it moves. What other loops hand over is done later, when
 * the test lets it: so the test decides who is faster.
 */
@SuppressWarnings("deprecation") // of what an event loop has to offer
final class ModelLoop extends AbstractEventLoop {
    private final LongSupplier clock;
    private final Queue<Runnable> own = new ArrayDeque<>();
    private final Queue<Runnable> handed = new ArrayDeque<>();
    private final PriorityQueue<Scheduled> scheduled = new PriorityQueue<>();
    private long lastNumber;
    private boolean running;

    ModelLoop(LongSupplier clock) {
        this.clock = clock;
    }

    /** Something happens on this loop: it does that, and what follows from it here. */
    void run(Runnable event) {
        runOne(event);
        for (Runnable task = own.poll(); task != null; task = own.poll()) {
            runOne(task);
        }
    }

    private void runOne(Runnable task) {
        if (running) {
            throw new IllegalStateException("one loop runs another");
        }
        running = true;
        try {
            task.run();
        } finally {
            running = false;
        }
    }

    /** Takes one task that others have handed over; returns whether there was one. */
    boolean takeOne() {
        Runnable task = handed.poll();
        if (task == null) {
            return false;
        }
        run(task);
        return true;
    }

    /** Does what is due; returns whether there was something. */
    boolean runDue() {
        boolean any = false;
        while (!scheduled.isEmpty() && scheduled.element().atNanos <= clock.getAsLong()) {
            Scheduled next = scheduled.remove();
            if (!next.isCancelled()) {
                run(next.task);
                any = true;
            }
        }
        return any;
    }

    /** Whether others have handed over something that is still to be done. */
    boolean isBehind() {
        return !handed.isEmpty();
    }

    @Override
    public void execute(Runnable task) {
        (running ? own : handed).add(task);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        Scheduled added = new Scheduled(task, clock.getAsLong() + unit.toNanos(delay), ++lastNumber);
        scheduled.add(added);
        return added;
    }

    @Override
    public boolean inEventLoop(Thread thread) {
        return running;
    }

    @Override
    public ChannelFuture register(Channel channel) {
        return register(new DefaultChannelPromise(channel, this));
    }

    @Override
    public ChannelFuture register(ChannelPromise promise) {
        return register(promise.channel(), promise);
    }

    @Override
    public ChannelFuture register(Channel channel, ChannelPromise promise) {
        channel.unsafe().register(this, promise);
        return promise;
    }

    @Override
    public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Future<?> terminationFuture() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void shutdown() {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean isShuttingDown() {
        return false;
    }

    @Override
    public boolean isShutdown() {
        return false;
    }

    @Override
    public boolean isTerminated() {
        return false;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
        throw new UnsupportedOperationException();
    }

    /** A task for later. */
    private final class Scheduled extends DefaultPromise<Void> implements ScheduledFuture<Void> {
        private final Runnable task;
        private final long atNanos;
        private final long number;

        Scheduled(Runnable task, long atNanos, long number) {
            super(ModelLoop.this);
            this.task = task;
            this.atNanos = atNanos;
            this.number = number;
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(atNanos - clock.getAsLong(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            Scheduled that = (Scheduled) other;
            return atNanos == that.atNanos ? Long.compare(number, that.number) : Long.compare(atNanos, that.atNanos);
        }
    }
}
