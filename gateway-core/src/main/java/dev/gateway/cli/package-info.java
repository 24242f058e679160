/** The command line: one class for each command, and what several commands use. */
@NullMarked
package dev.gateway.cli;

import org.jspecify.annotations.NullMarked;
