/** Balancing policies: each chooses among the endpoints of an upstream, and has its name and settings beside it. */
@NullMarked
package dev.gateway.upstream.balancer;

import org.jspecify.annotations.NullMarked;
