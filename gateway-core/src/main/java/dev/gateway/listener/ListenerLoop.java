package dev.gateway.listener;

import dev.gateway.overload.LoopGate;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.stream.RequestHandler;
import dev.gateway.time.TimerWheel;
import io.netty.channel.EventLoop;

/**
 * Event loop part of a listener: one event loop's part in a listener. All but {@code eventLoop} is used on that loop only.
 *
 * @param handler takes the requests of the loop
 * @param observer counts the listener's connections of the loop
 * @param gate says whether the process has room for another connection
 */
public record ListenerLoop(
        EventLoop eventLoop, TimerWheel timers, RequestHandler handler, ConnectionObserver observer, LoopGate gate) {
    /** Makes one that has room for any connection: for tests. */
    public ListenerLoop(EventLoop eventLoop, TimerWheel timers, RequestHandler handler, ConnectionObserver observer) {
        this(eventLoop, timers, handler, observer, LoopGate.OPEN);
    }
}
