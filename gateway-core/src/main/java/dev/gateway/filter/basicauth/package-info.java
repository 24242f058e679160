/** Filter BasicAuth: users of a file may use a route, by name and password. */
@NullMarked
package dev.gateway.filter.basicauth;

import org.jspecify.annotations.NullMarked;
