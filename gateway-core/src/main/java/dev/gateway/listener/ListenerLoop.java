package dev.gateway.listener;

import dev.gateway.overload.LoopGate;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.RequestHandler;
import dev.gateway.time.TimerWheel;
import io.netty.channel.EventLoop;

/**
 * One event loop's part of a listener. Everything except {@code eventLoop} is used on that loop only.
 *
 * @param handler handles the requests of the loop
 * @param observer counts the listener's connections on the loop
 * @param gate decides whether there is memory for another connection
 */
public record ListenerLoop(
        EventLoop eventLoop, TimerWheel timers, RequestHandler handler, ConnectionObserver observer, LoopGate gate) {
    /** Makes one that admits all connections: for tests. */
    public ListenerLoop(EventLoop eventLoop, TimerWheel timers, RequestHandler handler, ConnectionObserver observer) {
        this(eventLoop, timers, handler, observer, LoopGate.OPEN);
    }
}
