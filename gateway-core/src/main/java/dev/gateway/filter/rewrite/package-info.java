/** Filters that change heads, or answer without an upstream: those of the Gateway API and the direct response. */
@NullMarked
package dev.gateway.filter.rewrite;

import org.jspecify.annotations.NullMarked;
