/** New paths of requests, which redirects and rewrites make. */
@NullMarked
package dev.gateway.filter.rewrite;

import org.jspecify.annotations.NullMarked;
