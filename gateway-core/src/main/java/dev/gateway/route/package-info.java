/** Matches a request to a route. */
@NullMarked
package dev.gateway.route;

import org.jspecify.annotations.NullMarked;
