/** What runs: event loops, listeners, generations of the configuration, reloads, and what is looked at from time to time. */
@NullMarked
package dev.gateway.runtime;

import org.jspecify.annotations.NullMarked;
