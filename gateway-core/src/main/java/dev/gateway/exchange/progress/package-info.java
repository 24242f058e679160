/** Finds clients that are too slow, and exchanges that make no progress because of their clients. */
@NullMarked
package dev.gateway.exchange.progress;

import org.jspecify.annotations.NullMarked;
