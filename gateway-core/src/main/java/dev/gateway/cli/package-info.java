/** The command line: one class per command, and what commands share. */
@NullMarked
package dev.gateway.cli;

import org.jspecify.annotations.NullMarked;
