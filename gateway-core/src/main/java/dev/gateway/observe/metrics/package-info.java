/** Counters, histograms and statistics, per event loop, and how they are exposed. */
@NullMarked
package dev.gateway.observe.metrics;

import org.jspecify.annotations.NullMarked;
