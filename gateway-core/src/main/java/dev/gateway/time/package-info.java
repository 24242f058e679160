/** Timers of one event loop, cheap enough to be set and cancelled several times for each request. */
@NullMarked
package dev.gateway.time;

import org.jspecify.annotations.NullMarked;
