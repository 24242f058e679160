package dev.gateway.filter.limit;

import java.time.Duration;

/**
 * Request rate: how many requests may come.
 *
 * @param requests in each interval, on average
 * @param burst at once, after a quiet time
 */
public record RequestRate(long requests, Duration interval, long burst) {}
