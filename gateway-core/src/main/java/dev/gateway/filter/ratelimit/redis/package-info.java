/**
 * Redis client of limits that several gateways share: one connection for each event loop and store. Only {@code
 * LettuceConnector} and {@code LettuceLink} know Lettuce, so that nothing of it is loaded without a store.
 */
@NullMarked
package dev.gateway.filter.ratelimit.redis;

import org.jspecify.annotations.NullMarked;
