/** Filter BodyLimit: maximum size of request bodies. */
@NullMarked
package dev.gateway.filter.bodylimit;

import org.jspecify.annotations.NullMarked;
