/** Filter CORS: which pages of other origins may use a route. */
@NullMarked
package dev.gateway.filter.cors;

import org.jspecify.annotations.NullMarked;
