/** Lists all filters in their order, and makes those of a rule. */
@NullMarked
package dev.gateway.filter.assembly;

import org.jspecify.annotations.NullMarked;
