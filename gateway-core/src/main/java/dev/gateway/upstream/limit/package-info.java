/** Limits of what an upstream has at a time, and budgets of its retries and hedges. Event loops share them. */
@NullMarked
package dev.gateway.upstream.limit;

import org.jspecify.annotations.NullMarked;
