/** Turns configuration into what runs: the one place that knows both. */
@NullMarked
package dev.gateway.runtime.assembly;

import org.jspecify.annotations.NullMarked;
