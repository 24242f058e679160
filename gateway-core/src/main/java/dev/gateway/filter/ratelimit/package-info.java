/** Filter RateLimit: rate and concurrency limits of routes: buckets and counts by key, in tables of fixed size that event loops share. */
@NullMarked
package dev.gateway.filter.ratelimit;

import org.jspecify.annotations.NullMarked;
