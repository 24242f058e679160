/** How many connections a listener admits, and whose. Its event loops share the counts. */
@NullMarked
package dev.gateway.listener.limit;

import org.jspecify.annotations.NullMarked;
