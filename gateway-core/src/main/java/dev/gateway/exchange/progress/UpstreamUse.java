package dev.gateway.exchange.progress;

import java.util.List;
import java.util.Map;

/**
 * Use of an upstream by the exchanges of one event loop.
 *
 * @param clients how many exchanges of each client keep a connection busy, or a stream of one
 * @param idlers those that make no progress because of their clients
 */
public record UpstreamUse(Map<Object, Integer> clients, List<Idler> idlers) {
    /**
     * An exchange that makes no progress because of its client.
     *
     * @param client the same object for all exchanges of a client
     * @param quietNanos for how long no byte has moved
     * @param end ends it, unless bytes have moved meanwhile
     */
    public record Idler(Object client, long quietNanos, Runnable end) {}
}
