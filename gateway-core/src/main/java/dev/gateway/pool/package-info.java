/** Upstream connections, pooled per event loop; implements {@code StreamOpener}. */
@NullMarked
package dev.gateway.pool;

import org.jspecify.annotations.NullMarked;
