/** Filter RequestMirror: requests that are also sent to another upstream. */
@NullMarked
package dev.gateway.filter.mirror;

import org.jspecify.annotations.NullMarked;
