/** What filters of all types have in common, those of plugins, and those that nobody has checked. */
@NullMarked
package dev.gateway.config.filter;

import org.jspecify.annotations.NullMarked;
