/** Loads filter types from jars, and frees their classes when no generation uses them any more. */
@NullMarked
package dev.gateway.runtime.plugins;

import org.jspecify.annotations.NullMarked;
