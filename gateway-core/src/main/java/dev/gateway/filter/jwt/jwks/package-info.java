/** Keys of token issuers, fetched from their servers. */
@NullMarked
package dev.gateway.filter.jwt.jwks;

import org.jspecify.annotations.NullMarked;
