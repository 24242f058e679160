/** What the process has left for new work: memory that is charged where it is held, and when new work is refused. */
@NullMarked
package dev.gateway.overload;

import org.jspecify.annotations.NullMarked;
