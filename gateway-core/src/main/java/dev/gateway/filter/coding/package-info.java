/** Content codings, for filters that compress and decompress bodies, and the libraries that know them. */
@NullMarked
package dev.gateway.filter.coding;

import org.jspecify.annotations.NullMarked;
