/** Filter URLRewrite: changes host and path of a request before it is forwarded. */
@NullMarked
package dev.gateway.filter.urlrewrite;

import org.jspecify.annotations.NullMarked;
