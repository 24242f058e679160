/** Counters and histograms that one event loop writes, and any thread reads. */
@NullMarked
package dev.gateway.observe.counts;

import org.jspecify.annotations.NullMarked;
