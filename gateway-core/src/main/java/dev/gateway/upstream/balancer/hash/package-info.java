/** Balancing policy Hash: requests in which some parts are the same go to the same endpoint. */
@NullMarked
package dev.gateway.upstream.balancer.hash;

import org.jspecify.annotations.NullMarked;
