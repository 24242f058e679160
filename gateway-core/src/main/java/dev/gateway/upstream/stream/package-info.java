/** Streams to endpoints: what opens them, what they are for, and what the endpoint is told at their beginning. */
@NullMarked
package dev.gateway.upstream.stream;

import org.jspecify.annotations.NullMarked;
