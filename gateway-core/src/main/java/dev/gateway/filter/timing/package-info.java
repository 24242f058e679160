/** Measures how long filters take on their event loop. Nothing of it is loaded unless the configuration wants it. */
@NullMarked
package dev.gateway.filter.timing;

import org.jspecify.annotations.NullMarked;
