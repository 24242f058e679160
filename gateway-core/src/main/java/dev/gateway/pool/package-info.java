/** Upstream connections, kept per event loop: the one {@code StreamOpener}. */
@NullMarked
package dev.gateway.pool;

import org.jspecify.annotations.NullMarked;
