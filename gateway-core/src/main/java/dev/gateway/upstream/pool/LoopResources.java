package dev.gateway.upstream.pool;

import dev.gateway.net.PeerClose;
import dev.gateway.net.dns.Resolver;
import dev.gateway.net.transport.Connector;
import dev.gateway.overload.memory.Account;
import dev.gateway.time.TimerWheel;
import io.netty.channel.EventLoop;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import java.util.function.LongUnaryOperator;

/**
 * The resources of one event loop for upstream connections: sockets, names, timers, and room for further connections.
 * Confined to the loop.
 */
final class LoopResources {
    /** Returns a number from 0 to below another one, each as likely. */
    static final LongUnaryOperator RANDOM = bound -> ThreadLocalRandom.current().nextLong(bound);

    final Connector connector;
    final Resolver resolver;
    final EventLoop loop;
    final TimerWheel wheel;
    final LongUnaryOperator random;
    final DialRoom room;
    final PeerClose peerClose = new PeerClose();
    final Account account;

    /**
     * Makes the resources.
     *
     * @param random {@link #RANDOM}, or a source that a test can repeat
     * @param account what connections hold for no particular client
     * @param giveUpIdle closes an idle connection of this loop, and returns whether there was one
     */
    LoopResources(
            Connector connector,
            Resolver resolver,
            EventLoop loop,
            TimerWheel wheel,
            LongUnaryOperator random,
            Account account,
            BooleanSupplier giveUpIdle) {
        this.connector = connector;
        this.resolver = resolver;
        this.loop = loop;
        this.wheel = wheel;
        this.random = random;
        this.account = account;
        this.room = new DialRoom(loop, wheel, connector.descriptors().upstreams(), giveUpIdle);
    }

    /** Checks that the caller is on this event loop. */
    void requireLoop() {
        if (!loop.inEventLoop()) {
            throw new IllegalStateException("told on " + Thread.currentThread().getName() + ", not on the event loop");
        }
    }
}
