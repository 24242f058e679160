package dev.gateway.pool;

import dev.gateway.net.transport.DescriptorShare;
import dev.gateway.time.Timer;
import dev.gateway.time.TimerWheel;
import io.netty.channel.EventLoop;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Finds a file descriptor for a connection to an upstream. Where none is left, an idle connection is closed for it: one of
 * the same event loop, else one of another. Where none is idle, the new connection waits until another ends. Confined to
 * its loop.
 */
final class DialRoom {
    private final EventLoop loop;
    private final TimerWheel wheel;
    private final DescriptorShare share;
    private final BooleanSupplier giveUpIdle;
    private final Queue<Claim> waiting = new ArrayDeque<>();
    private List<DialRoom> others = List.of();
    private boolean listening; // the share tells when a descriptor may be free

    /**
     * Makes that of one event loop.
     *
     * @param giveUpIdle closes a connection of this loop that is idle, and returns whether there was one
     */
    DialRoom(EventLoop loop, TimerWheel wheel, DescriptorShare share, BooleanSupplier giveUpIdle) {
        this.loop = loop;
        this.wheel = wheel;
        this.share = share;
        this.giveUpIdle = giveUpIdle;
    }

    /** Takes note of those of all event loops; before anything is claimed. */
    void join(List<DialRoom> all) {
        others = all.stream().filter(each -> each != this).toList();
    }

    /**
     * Prepares to ask for room for one connection.
     *
     * @param then told whether there is some, on this loop, maybe before {@link Claim#begin} returns
     */
    Claim claim(Consumer<Boolean> then) {
        return new Claim(then);
    }

    /** Whether no descriptor is left now. */
    boolean isFull() {
        return share.isFull();
    }

    /** Whether connections of this loop wait for a descriptor. */
    boolean isAwaitedHere() {
        return !waiting.isEmpty();
    }

    /** Whether connections of any loop wait for a descriptor, so that none is to be kept idle. */
    boolean isAwaited() {
        return share.isAwaited() || isAwaitedHere();
    }

    private void askOthers(int position) {
        if (position < others.size()) {
            DialRoom asked = others.get(position);
            asked.loop.execute(() -> {
                if (share.isFull() && !asked.giveUpIdle.getAsBoolean()) {
                    askOthers(position + 1);
                }
            });
        }
    }

    private void listen() {
        if (!listening) {
            listening = true;
            share.whenFree(() -> loop.execute(this::serve)); // never on this stack, which may be another loop's
        }
    }

    private void serve() {
        listening = false;
        while (!waiting.isEmpty() && !share.isFull()) {
            waiting.remove().onFound();
        }
        if (!waiting.isEmpty()) {
            listen();
            askOthers(0); // what has become idle since the share told, while nobody seemed to wait
        }
    }

    /** The wait of one connection. */
    final class Claim extends Timer {
        private final Consumer<Boolean> then;

        private Claim(Consumer<Boolean> then) {
            this.then = then;
        }

        /**
         * Asks. Another loop may be faster to use what was found: then the socket cannot be made, and the caller asks again.
         *
         * @param millis how long to wait, 0 for no limit
         */
        void begin(long millis) {
            if (waiting.isEmpty() && (!share.isFull() || giveUpIdle.getAsBoolean())) {
                then.accept(true);
                return;
            }
            waiting.add(this);
            if (millis > 0) {
                wheel.arm(this, millis);
            }
            listen(); // first, so that what becomes idle while others are asked is not kept
            askOthers(0);
        }

        /** Asks without waiting. */
        void beginAtOnce() {
            then.accept(!share.isFull() || giveUpIdle.getAsBoolean());
        }

        private void onFound() {
            cancel();
            then.accept(true);
        }

        @Override
        protected void onExpired() {
            waiting.remove(this);
            then.accept(false);
        }

        /** Waits no longer; nobody is told. */
        void withdraw() {
            cancel();
            waiting.remove(this);
        }
    }
}
