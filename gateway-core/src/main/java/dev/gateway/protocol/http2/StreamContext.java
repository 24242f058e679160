package dev.gateway.protocol.http2;

import dev.gateway.overload.memory.Account;
import dev.gateway.stream.ConnectionObserver;
import dev.gateway.time.TimerWheel;

/**
 * What the streams of one connection share: the parts of the connection that they use, and whom they are accounted to. Many,
 * but each has a type of its own, and one object for all keeps a stream small.
 *
 * @param account what the heap is charged to that the peer makes us hold
 * @param culprit whom to blame for what streams hold: one object for all of the connection
 * @param writeIdleMillis how long the peer may take nothing of what waits for it, 0 for no limit
 */
record StreamContext(
        OpenStreams streams,
        StreamSender sender,
        ReceiveWindows windows,
        WindowGrowth growth,
        FlushSchedule flushes,
        ConnectionShutdown ending,
        FloodGuard guard,
        ConnectionObserver observer,
        TimerWheel timers,
        Account account,
        Object culprit,
        long writeIdleMillis) {}
