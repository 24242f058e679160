/** Filters of bodies: compression, decompression. */
@NullMarked
package dev.gateway.filter.body;

import org.jspecify.annotations.NullMarked;
