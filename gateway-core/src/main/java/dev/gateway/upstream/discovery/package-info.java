/** Service discovery: sources of endpoints, and the updates of upstreams. */
@NullMarked
package dev.gateway.upstream.discovery;

import org.jspecify.annotations.NullMarked;
