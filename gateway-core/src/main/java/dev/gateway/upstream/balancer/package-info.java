/**
 * Balancing policies: each chooses among the endpoints of an upstream, and has its name and settings beside it.
 * {@code NamedByRequest} has no name: it is the policy of upstreams without endpoints of their own.
 */
@NullMarked
package dev.gateway.upstream.balancer;

import org.jspecify.annotations.NullMarked;
