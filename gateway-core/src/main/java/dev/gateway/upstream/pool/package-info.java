/** Upstream connections, pooled per event loop; implements {@code StreamOpener}. */
@NullMarked
package dev.gateway.upstream.pool;

import org.jspecify.annotations.NullMarked;
