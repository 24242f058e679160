/** Filter APIKey: holders of keys of a file may use a route. */
@NullMarked
package dev.gateway.filter.apikey;

import org.jspecify.annotations.NullMarked;
