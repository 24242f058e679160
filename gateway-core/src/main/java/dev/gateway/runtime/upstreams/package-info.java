/** What the gateway looks at each second in its upstreams: statistics, and clients that crowd out others. */
@NullMarked
package dev.gateway.runtime.upstreams;

import org.jspecify.annotations.NullMarked;
