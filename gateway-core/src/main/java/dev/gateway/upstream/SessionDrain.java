package dev.gateway.upstream;

/**
 * A drain that leaves an endpoint its sessions for a time.
 *
 * @param number tells it from other drains
 * @param endNanos when the sessions go to other endpoints, by the clock of {@link Health}
 */
record SessionDrain(long number, long endNanos) {}
