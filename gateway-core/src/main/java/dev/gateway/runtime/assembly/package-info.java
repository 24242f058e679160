/** Joins what the areas make from a configuration into a running generation. */
@NullMarked
package dev.gateway.runtime.assembly;

import org.jspecify.annotations.NullMarked;
