/** Joins what the areas make of a configuration to a generation, which runs. */
@NullMarked
package dev.gateway.runtime.assembly;

import org.jspecify.annotations.NullMarked;
