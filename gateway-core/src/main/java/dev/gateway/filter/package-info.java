/** Steps a request or response passes, and the one place where they are put in order. */
@NullMarked
package dev.gateway.filter;

import org.jspecify.annotations.NullMarked;
