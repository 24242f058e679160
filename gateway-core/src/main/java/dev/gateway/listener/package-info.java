/** Bound addresses: accepts connections, detects their protocol, limits and drains them. */
@NullMarked
package dev.gateway.listener;

import org.jspecify.annotations.NullMarked;
