package dev.gateway.filter.limit;

import java.time.Duration;

/**
 * Quota rate: how many requests or bytes may come.
 *
 * @param quota in each interval, on average
 * @param burst at once, after a quiet time
 */
public record QuotaRate(long quota, Duration interval, long burst) {}
