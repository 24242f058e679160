/** The access log: lines, their fields and forms, and where they are written. */
@NullMarked
package dev.gateway.observe.accesslog;

import org.jspecify.annotations.NullMarked;
