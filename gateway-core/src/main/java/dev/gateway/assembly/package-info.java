/** Turns configuration into what runs: the one place that knows both. */
@NullMarked
package dev.gateway.assembly;

import org.jspecify.annotations.NullMarked;
