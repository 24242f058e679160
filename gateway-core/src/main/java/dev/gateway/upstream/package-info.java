/** Named groups of endpoints and how one is chosen: the only request-time state that event loops share. */
@NullMarked
package dev.gateway.upstream;

import org.jspecify.annotations.NullMarked;
