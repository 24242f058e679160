/** Filter ErrorPages: bodies of errors from files, also for listeners. */
@NullMarked
package dev.gateway.filter.errorpages;

import org.jspecify.annotations.NullMarked;
