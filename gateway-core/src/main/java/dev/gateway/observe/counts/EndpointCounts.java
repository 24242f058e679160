package dev.gateway.observe.counts;

/**
 * Endpoint counts: what was counted of one endpoint.
 *
 * @param requests attempts that have ended
 * @param failures of these, those that tell against the endpoint
 * @param active attempts in progress
 * @param seconds how long all of them took together
 */
public record EndpointCounts(long requests, long failures, long active, double seconds) {}
