/** Load shedding: charges memory where it is held, and decides when to refuse new work. */
@NullMarked
package dev.gateway.overload;

import org.jspecify.annotations.NullMarked;
