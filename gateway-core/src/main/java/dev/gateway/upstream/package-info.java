/**
 * Named groups of endpoints, and the choice of one for a request: most of the request-time state that event loops share.
 */
@NullMarked
package dev.gateway.upstream;

import org.jspecify.annotations.NullMarked;
