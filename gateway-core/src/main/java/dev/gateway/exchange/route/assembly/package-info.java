/** Makes routes from the configuration, with their filters and policies. */
@NullMarked
package dev.gateway.exchange.route.assembly;

import org.jspecify.annotations.NullMarked;
