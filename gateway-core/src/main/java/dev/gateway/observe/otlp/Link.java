package dev.gateway.observe.otlp;

import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.stream.StreamOpener;

/**
 * How a receiver is reached.
 *
 * @param upstream the receiver, with one endpoint
 * @param opener opens streams to it on an event loop
 * @param wheel the timers of that loop
 */
public record Link(Upstream upstream, StreamOpener opener, TimerWheel wheel) {}
