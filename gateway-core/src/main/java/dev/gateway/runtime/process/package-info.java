/** The process around the gateway: signals, systemd, its log, its memory, its build. */
@NullMarked
package dev.gateway.runtime.process;

import org.jspecify.annotations.NullMarked;
