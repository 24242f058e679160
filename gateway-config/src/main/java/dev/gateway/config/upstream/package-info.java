/** The section of upstreams: endpoints, how they are chosen and checked, and connections to them. */
@NullMarked
package dev.gateway.config.upstream;

import org.jspecify.annotations.NullMarked;
