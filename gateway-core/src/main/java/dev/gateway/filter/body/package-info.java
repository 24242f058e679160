/** Filters of bodies: size limits, compression, decompression. */
@NullMarked
package dev.gateway.filter.body;

import org.jspecify.annotations.NullMarked;
