package dev.gateway.upstream.pool;

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
 * Finds a file descriptor for a connection to an upstream. If none is left, it closes an idle connection: one of the same
 * event loop, else one of another. If none is idle, the new connection waits until another one ends. Confined to its loop.
 */
final class DialRoom {
    private final EventLoop loop;
    private final TimerWheel wheel;
    private final DescriptorShare share;
    private final BooleanSupplier giveUpIdle;
    private final Queue<Claim> waiting = new ArrayDeque<>();
    private List<DialRoom> others = List.of();
    private boolean listening; // the share will call back when a descriptor may be free

    /**
     * Makes the room of one event loop.
     *
     * @param giveUpIdle closes an idle connection of this loop, and returns whether there was one
     */
    DialRoom(EventLoop loop, TimerWheel wheel, DescriptorShare share, BooleanSupplier giveUpIdle) {
        this.loop = loop;
        this.wheel = wheel;
        this.share = share;
        this.giveUpIdle = giveUpIdle;
    }

    /** Sets the rooms of all event loops; called before the first claim. */
    void join(List<DialRoom> all) {
        others = all.stream().filter(each -> each != this).toList();
    }

    /**
     * Prepares to wait for a descriptor for one connection.
     *
     * @param then gets whether there is one, on this loop, maybe before {@link Claim#begin} returns
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

    /** Whether connections of any loop wait for a descriptor, so that pools must not keep idle ones. */
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
            askOthers(0); // connections may have become idle while nothing seemed to wait
        }
    }

    /** The wait of one connection. */
    final class Claim extends Timer {
        private final Consumer<Boolean> then;

        private Claim(Consumer<Boolean> then) {
            this.then = then;
        }

        /**
         * Looks for a descriptor, and waits for one if there is none. Another loop may use it first: then making the socket
         * fails, and the caller begins again.
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
            listen(); // first, so that pools keep nothing that becomes idle while this asks other loops
            askOthers(0);
        }

        /** Looks for a descriptor without waiting. */
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

        /** Stops waiting, without an answer. */
        void withdraw() {
            cancel();
            waiting.remove(this);
        }
    }
}
