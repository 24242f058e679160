/** Bodies: how large those of requests may be, and their content codings. */
@NullMarked
package dev.gateway.filter.body;

import org.jspecify.annotations.NullMarked;
