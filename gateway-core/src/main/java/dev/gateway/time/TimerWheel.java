package dev.gateway.time;

import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Hashed timer wheel. The timers of one event loop: a hashed wheel (Varghese and Lauck) that turns when the next slot with
 * timers in it is due, so that a loop with little to do sleeps on. Timers expire up to two ticks late, never early.
 */
public final class TimerWheel {
    /** How exact timers are. */
    public static final long TICK_MILLIS = 10;

    private static final long TICK_NANOS = TICK_MILLIS * 1_000_000;
    private static final int SLOTS = 1024;
    private static final long WALL_NANOS = 1_000_000;

    private final ScheduledExecutorService loop;
    private final LongSupplier nanoClock;
    private final LongSupplier wallClock;
    private long recentNanos;
    private boolean held; // the clock stands still
    private long wallMillis;
    private long wallReadNanos;
    private final long startNanos;
    private final @Nullable Timer[] slots = new @Nullable Timer[SLOTS];
    private final int maxPause; // ticks from one turn to the next
    private final Runnable turn = this::turn;
    private long tick; // every slot up to here has been emptied
    private int armed;
    private @Nullable ScheduledFuture<?> turning;
    private long turnTick = Long.MAX_VALUE; // of the next turn

    /** Makes the wheel of an event loop. */
    public TimerWheel(ScheduledExecutorService loop) {
        this(loop, System::nanoTime, System::currentTimeMillis, SLOTS);
    }

    /** Makes a wheel whose clock a test moves: it turns with each tick, as its loop does not know when that clock moves. */
    public TimerWheel(ScheduledExecutorService loop, LongSupplier nanoClock) {
        this(loop, nanoClock, System::currentTimeMillis);
    }

    /**
     * Makes a wheel whose clocks a test moves, both of them.
     *
     * @param wallClock returns milliseconds since 1970
     */
    public TimerWheel(ScheduledExecutorService loop, LongSupplier nanoClock, LongSupplier wallClock) {
        this(loop, nanoClock, wallClock, 1);
    }

    /**
     * Makes a wheel whose loop has the same clock.
     *
     * @param wallClock returns milliseconds since 1970
     */
    TimerWheel(ScheduledExecutorService loop, LongSupplier nanoClock, LongSupplier wallClock, int maxPause) {
        this.loop = loop;
        this.nanoClock = nanoClock;
        this.wallClock = wallClock;
        this.maxPause = maxPause;
        this.startNanos = nanoClock.getAsLong();
        this.recentNanos = startNanos;
        this.wallReadNanos = startNanos - WALL_NANOS;
    }

    /** Returns the event loop, as what runs tasks on it; safe from any thread. */
    public Executor loop() {
        return loop;
    }

    /** Returns the wheel's clock, for durations. */
    public long nanoTime() {
        if (!held) {
            recentNanos = nanoClock.getAsLong();
        }
        return recentNanos;
    }

    /**
     * Lets the clock stand still until {@link #release}: all that the loop does about one piece of input happens at one
     * time, which is read once. A request asks for the time a dozen times, and each costs as much as parsing a line.
     */
    public void hold() {
        held = false;
        nanoTime();
        held = true;
    }

    /** Advances the clock. */
    public void release() {
        held = false;
    }

    /** Returns the time of day in milliseconds since 1970, up to one millisecond old. */
    public long wallMillis() {
        long now = nanoTime();
        if (now - wallReadNanos >= WALL_NANOS) {
            wallReadNanos = now;
            wallMillis = wallClock.getAsLong();
        }
        return wallMillis;
    }

    /** Arms a timer to expire after the delay; if it was armed, the old delay is forgotten. */
    public void arm(Timer timer, long delayMillis) {
        timer.cancel();
        long elapsed = elapsedTicks();
        if (armed == 0) {
            tick = elapsed; // nothing to expire in between
        }
        // One tick more, because the current one has begun already.
        timer.deadlineTick = elapsed + (Math.max(0, delayMillis) + TICK_MILLIS - 1) / TICK_MILLIS + 1;
        int slot = (int) (timer.deadlineTick & (SLOTS - 1));
        Timer head = slots[slot];
        timer.next = head;
        timer.previous = null;
        if (head != null) {
            head.previous = timer;
        }
        slots[slot] = timer;
        timer.wheel = this;
        armed++;
        turnBy(Math.min(timer.deadlineTick, elapsed + maxPause));
    }

    private void turnBy(long wanted) {
        if (wanted >= turnTick) {
            return;
        }
        if (turning != null) {
            turning.cancel(false);
        }
        turnTick = wanted;
        turning = loop.schedule(turn, startNanos + wanted * TICK_NANOS - nanoTime(), TimeUnit.NANOSECONDS);
    }

    void remove(Timer timer) {
        if (timer.previous != null) {
            timer.previous.next = timer.next;
        } else {
            slots[(int) (timer.deadlineTick & (SLOTS - 1))] = timer.next;
        }
        if (timer.next != null) {
            timer.next.previous = timer.previous;
        }
        timer.wheel = null;
        timer.next = timer.previous = null;
        armed--;
    }

    private long elapsedTicks() {
        return (nanoTime() - startNanos) / TICK_NANOS;
    }

    private void turn() {
        turning = null;
        turnTick = Long.MIN_VALUE; // the next turn is arranged below, whatever expired timers arm
        long now = elapsedTicks();
        // After a long pause one round visits every slot; more would find nothing new.
        tick = Math.max(tick, now - SLOTS);
        try {
            while (tick < now && armed > 0) {
                expireSlot((int) ((tick + 1) & (SLOTS - 1)), now);
                tick++;
            }
            tick = now;
        } finally {
            // Also when a timer throws, which is for the loop to report: the others still expire.
            turnTick = Long.MAX_VALUE;
            if (armed > 0) {
                turnBy(nextTick());
            }
        }
    }

    /** Returns when there is something to look at again, perhaps in vain: a slot holds timers of later rounds, too. */
    private long nextTick() {
        long next = tick + 1;
        while (next < tick + maxPause && slots[(int) (next & (SLOTS - 1))] == null) {
            next++;
        }
        return next;
    }

    private void expireSlot(int slot, long now) {
        // A timer that expires may arm or cancel any other, so start over after each.
        Timer due = firstDue(slot, now);
        while (due != null) {
            remove(due);
            due.onExpired();
            due = firstDue(slot, now);
        }
    }

    private @Nullable Timer firstDue(int slot, long now) {
        Timer timer = slots[slot];
        while (timer != null && timer.deadlineTick > now) {
            timer = timer.next;
        }
        return timer;
    }
}
