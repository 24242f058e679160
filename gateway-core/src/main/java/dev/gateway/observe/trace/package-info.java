/** Which trace a request is part of: what its head says of that, and what upstreams are told. */
@NullMarked
package dev.gateway.observe.trace;

import org.jspecify.annotations.NullMarked;
