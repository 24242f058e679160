/** Paths: their normal form, and how servers may read them and the names in their queries. */
@NullMarked
package dev.gateway.message.path;

import org.jspecify.annotations.NullMarked;
