/** What other parts of the gateway tell metrics and statistics: upstreams, listeners, certificates and refused tunnels. */
@NullMarked
package dev.gateway.observe.metrics.state;

import org.jspecify.annotations.NullMarked;
