package dev.gateway.pool;

import dev.gateway.net.PeerClose;
import dev.gateway.net.dns.Resolver;
import dev.gateway.net.transport.Transport;
import dev.gateway.time.TimerWheel;
import io.netty.channel.EventLoop;
import java.util.function.BooleanSupplier;

/**
 * The resources of one event loop for upstream connections: sockets, names, timers, and room for further connections.
 * Confined to the loop.
 */
final class LoopResources {
    final Transport transport;
    final Resolver resolver;
    final EventLoop loop;
    final TimerWheel wheel;
    final DialRoom room;
    final PeerClose peerClose = new PeerClose();

    /**
     * Makes the resources.
     *
     * @param giveUpIdle closes an idle connection of this loop, and returns whether there was one
     */
    LoopResources(
            Transport transport, Resolver resolver, EventLoop loop, TimerWheel wheel, BooleanSupplier giveUpIdle) {
        this.transport = transport;
        this.resolver = resolver;
        this.loop = loop;
        this.wheel = wheel;
        this.room = new DialRoom(loop, wheel, transport.descriptors().upstreams(), giveUpIdle);
    }

    /** Checks that the caller is on this event loop. */
    void requireLoop() {
        if (!loop.inEventLoop()) {
            throw new IllegalStateException("told on " + Thread.currentThread().getName() + ", not on the event loop");
        }
    }
}
