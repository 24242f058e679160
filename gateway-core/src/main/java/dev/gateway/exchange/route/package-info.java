/** Matches a request to a route. */
@NullMarked
package dev.gateway.exchange.route;

import org.jspecify.annotations.NullMarked;
