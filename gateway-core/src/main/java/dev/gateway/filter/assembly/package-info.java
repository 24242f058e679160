/** Lists all filters in their order. */
@NullMarked
package dev.gateway.filter.assembly;

import org.jspecify.annotations.NullMarked;
