/** Load shedding: decides when to refuse new work, and whose work to end. */
@NullMarked
package dev.gateway.overload;

import org.jspecify.annotations.NullMarked;
