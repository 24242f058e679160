/** Answers which rule a request or a tunnel would meet, and why, without sending it. */
@NullMarked
package dev.gateway.status.explain;

import org.jspecify.annotations.NullMarked;
