/** The gateway as an object: start, reload, drain, close. */
@NullMarked
package dev.gateway;

import org.jspecify.annotations.NullMarked;
