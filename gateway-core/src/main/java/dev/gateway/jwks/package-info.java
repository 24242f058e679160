/** Keys of token issuers, fetched from their servers. */
@NullMarked
package dev.gateway.jwks;

import org.jspecify.annotations.NullMarked;
