/** Filter Compression: compresses responses of upstreams. */
@NullMarked
package dev.gateway.filter.compression;

import org.jspecify.annotations.NullMarked;
