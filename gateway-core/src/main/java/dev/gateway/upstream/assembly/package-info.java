/** Makes upstreams from the configuration, and lists all balancers. */
@NullMarked
package dev.gateway.upstream.assembly;

import org.jspecify.annotations.NullMarked;
