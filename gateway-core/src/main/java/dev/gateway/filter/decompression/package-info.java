/** Filter Decompression: decompresses bodies of requests. */
@NullMarked
package dev.gateway.filter.decompression;

import org.jspecify.annotations.NullMarked;
